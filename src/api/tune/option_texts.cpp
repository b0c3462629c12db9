#include "api/tune/option_texts.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "backend/extensions/operator_library.h"
#include "backend/module_file.h"
#include "backend/roles.h"
#include "base/number_text.h"
#include "passes/simplify.h"
#include "plan/file/plan_file.h"
#include "region/cover.h"

namespace collage {
namespace {

/// "NAME=LO..HI"; nothing when it is not.
std::optional<std::pair<std::string, std::pair<double, double>>> input_range(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t dots = text.find("..", equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || dots == std::string::npos) return std::nullopt;
  const auto low = number_in<double>(std::string_view(text).substr(equals + 1, dots - equals - 1));
  const auto high = number_in<double>(std::string_view(text).substr(dots + 2));
  if (!low || !high || !(*low <= *high)) return std::nullopt;
  return std::pair(text.substr(0, equals), std::pair(*low, *high));
}

}  // namespace

std::unexpected<Error> bad_option(const OptionLabel& label, std::string saw, std::string allowed) {
  return fail(ExitCode::kUsage, label.code, label.name, std::move(saw), std::move(allowed));
}

Result<OutputBound> accuracy_from(const std::string& text, const OptionLabel& label) {
  if (const auto bound = output_bound_of(text)) return *bound;
  return bad_option(label, text, std::string(kOutputBoundForms));
}

Result<std::set<std::string>> passes_off_from(const std::string& text, const OptionLabel& label) {
  if (text.empty()) return std::set<std::string>();
  auto off = passes_switched_off(text);
  if (!off) return bad_option(label, off.error().saw, off.error().allowed);
  return off;
}

Result<std::map<std::string, std::pair<double, double>>> input_ranges_from(const std::vector<std::string>& texts,
                                                                           const OptionLabel& label) {
  std::map<std::string, std::pair<double, double>> ranges;
  for (const std::string& text : texts) {
    auto range = input_range(text);
    if (!range) return bad_option(label, text, "NAME=LO..HI with LO <= HI");
    if (!ranges.insert(std::move(*range)).second) return bad_option(label, text, "one range for each input");
  }
  return ranges;
}

Result<std::vector<NodeRule>> node_rules_from(const std::vector<std::string>& bans,
                                              const std::vector<std::string>& pins) {
  std::vector<NodeRule> rules;
  for (const auto& [kind, texts] : {std::pair{NodeRule::Kind::kBan, &bans}, {NodeRule::Kind::kPin, &pins}})
    for (const std::string& text : *texts) {
      COLLAGE_TRY(NodeRule rule, parse_node_rule(kind, text));
      rules.push_back(std::move(rule));
    }
  return rules;
}

Result<void> check_other_file(const std::string& model, const std::string& plan, const OptionLabel& label) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(model, plan, ignored)) return {};
  return bad_option(label, plan, "another file than the model");
}

Result<std::string> operator_place(const std::string& library, const OptionLabel& label) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(library, error);
  if (!std::filesystem::is_regular_file(path, error))
    return bad_option(label, library, "a library of operators that is there");
  return std::string(kOperatorPlace) + path.string();
}

Result<std::vector<std::string>> take_modules(std::vector<std::string>& modules, const OptionLabel& label) {
  std::vector<std::string> kinds;
  for (std::string& module : modules) {
    std::error_code error;
    if (module.starts_with(kOperatorPlace)) {
      COLLAGE_TRY(module, operator_place(module.substr(kOperatorPlace.size()), label));
      continue;
    }
    const std::filesystem::path path = std::filesystem::absolute(module, error);
    if (std::filesystem::is_directory(path, error)) {
      module = path.string();
      continue;
    }
    if (!std::filesystem::is_regular_file(path, error)) return bad_option(label, module, "a module file that is there");
    std::string kind = kind_of_file(path.filename().string());
    if (kind.empty()) return bad_option(label, module, "a file called " + file_of_kind("KIND"));
    kinds.push_back(std::move(kind));
    module = path.string();
  }
  return kinds;
}

std::vector<std::string> backends_from(const std::optional<std::vector<std::string>>& named,
                                       const std::vector<std::string>& module_kinds) {
  if (named) return *named;
  std::vector<std::string> backends = {kUsualBackends.begin(), kUsualBackends.end()};
  for (const std::string& kind : module_kinds)
    if (std::ranges::find(backends, kind) == backends.end()) backends.push_back(kind);
  return backends;
}

std::vector<std::string> required_backends(const std::optional<std::vector<std::string>>& named,
                                           const std::vector<std::string>& module_kinds,
                                           std::span<const NodeRule> rules) {
  std::vector<std::string> required = named.value_or(module_kinds);
  for (const NodeRule& rule : rules)
    if (rule.backend != kControlBackend) required.push_back(rule.backend);
  return required;
}

Result<void> check_only(const std::string& only, const std::optional<std::vector<std::string>>& named,
                        const Registry& registry, const OptionLabel& label, const std::string& only_name) {
  if (only.empty() || !named) return {};
  const std::vector<std::string> kinds = registry.kinds();
  if (std::ranges::find(kinds, only.substr(0, only.find(':'))) == kinds.end()) return {};
  return bad_option(label, only_name + " " + only + ", too",
                    "one of them; both together where " + only_name + " names a device");
}

Result<void> check_rivals(const std::vector<std::string>& rivals, Registry& registry) {
  for (const std::string& rival : rivals)
    if (!is_plan_file(rival)) COLLAGE_TRY_VOID(registry.get(rival));
  return {};
}

}  // namespace collage
