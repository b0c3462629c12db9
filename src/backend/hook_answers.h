// Validates what hooks return.
// In:  a hook's result, or the exception that it threw. Out: the result, or a message that says what is wrong.
// Cost: linear in the result; matched_variants() copies the region once.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "backend/hooks.h"
#include "region/variant.h"

namespace collage {

/// The info that an instance's hooks report; `unusable` when probe throws or reports something impossible.
[[nodiscard]] BackendInfo info_of(const BackendHooks& hooks, const BackendOptions& options);
/// Rules whose patterns parse, or why there are none.
[[nodiscard]] std::expected<PartitionRules, std::string> rules_of(const BackendHooks& hooks,
                                                                  const BackendOptions& options);

/// For a backend without `support`: one variant in plain formats when a pattern of the rules, the one that labels the
/// region where it has a label, matches all of it. The variant's name is the label, "default" without one.
[[nodiscard]] std::expected<std::vector<Variant>, Refusal> matched_variants(const PartitionRules& rules,
                                                                            const Graph& graph, const Region& region);

/// What an artifact names and the region does not have. Nothing when all is there.
[[nodiscard]] std::optional<std::string> fault_of(const Artifact& artifact, const CompileRequest& request);
/// What is wrong with an answer of `link` for so many kernels. Nothing when it can be used.
[[nodiscard]] std::optional<std::string> fault_of(const LinkedKernels& linked, std::size_t kernels);
/// Constants that are kept are among so many.
[[nodiscard]] bool names_constants(const PreparedArtifact& prepared, std::size_t count);

[[nodiscard]] std::string thrown(std::string_view hook, const std::string& words);
[[nodiscard]] std::string wrong_count(std::string_view hook, std::size_t saw, std::size_t wanted);
/// The library's fault, found while compiling.
[[nodiscard]] std::unexpected<Refusal> refused(std::string detail);

/// The answers of a hook that gives one for each of `count` regions; all refusals when it throws or gives another
/// number.
template <class Ask>
auto answers_of(std::string_view hook, std::size_t count, Ask&& ask) -> decltype(ask()) {
  auto answers = guard(ask);
  if (!answers) return decltype(ask())(count, refused(thrown(hook, answers.error())));
  if (answers->size() != count) return decltype(ask())(count, refused(wrong_count(hook, answers->size(), count)));
  return *std::move(answers);
}

}  // namespace collage
