// Options as users write them, in the command line and in the C interface, as the values that tune(), bench() and the
// others take.
// In:  texts. Out: values, or an error that names the option as its user knows it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"
#include "numbers/output_bound.h"
#include "region/rules/user_rules.h"
#include "tune/node_rules.h"

namespace collage {

/// How errors call an option: the code of all bad options of this interface, and this one's name.
struct OptionLabel {
  std::string code;  ///< "cli/bad-option"
  std::string name;  ///< "--accuracy"
};

[[nodiscard]] std::unexpected<Error> bad_option(const OptionLabel& label, std::string saw, std::string allowed);

/// "strict", "standard", "fast", or bounds: "max=1e-2,mean=1e-3,cosine>=0.999".
[[nodiscard]] Result<OutputBound> accuracy_from(const std::string& text, const OptionLabel& label);

/// "-fold_pad,-merge_bias"; empty switches nothing off.
[[nodiscard]] Result<std::set<std::string>> passes_off_from(const std::string& text, const OptionLabel& label);

/// "NAME=LO..HI" each.
[[nodiscard]] Result<std::map<std::string, std::pair<double, double>>> input_ranges_from(
    const std::vector<std::string>& texts, const OptionLabel& label);

/// "GLOB=NAME" each. Error tune/bad-rule.
[[nodiscard]] Result<std::vector<NodeRule>> node_rules_from(const std::vector<std::string>& bans,
                                                            const std::vector<std::string>& pins);

/// The plan is written to another file than the model's.
[[nodiscard]] Result<void> check_other_file(const std::string& model, const std::string& plan,
                                            const OptionLabel& label);

/// The place (backend/registry.h) of a library of custom operators. An error when there is no such file.
[[nodiscard]] Result<std::string> operator_place(const std::string& library, const OptionLabel& label);

/// Module files and operators' libraries (kOperatorPlace) among `modules`, made absolute in place; the kinds of the
/// former. What else is no folder is an error.
[[nodiscard]] Result<std::vector<std::string>> take_modules(std::vector<std::string>& modules,
                                                            const OptionLabel& label);

/// Who may take nodes: those that the user named, else the usual ones and the kinds of the module files.
[[nodiscard]] std::vector<std::string> backends_from(const std::optional<std::vector<std::string>>& named,
                                                     const std::vector<std::string>& module_kinds);

/// Of these, who must be here: what the user names, by himself or in a rule. What is only a default may be missing.
[[nodiscard]] std::vector<std::string> required_backends(const std::optional<std::vector<std::string>>& named,
                                                         const std::vector<std::string>& module_kinds,
                                                         std::span<const NodeRule> rules);

/// `only` a backend leaves nothing for a list of backends to say; of a device they say which. `label` is the list's,
/// `only_name` the other's.
[[nodiscard]] Result<void> check_only(const std::string& only, const std::optional<std::vector<std::string>>& named,
                                      const Registry& registry, const OptionLabel& label, const std::string& only_name);

/// Every rival is an engine that is here, or a plan. Errors of Registry::get.
[[nodiscard]] Result<void> check_rivals(const std::vector<std::string>& rivals, Registry& registry);

}  // namespace collage
