// Reports the effect of each of the user's rules: how many nodes it names, which candidates it removed or added, how
// many steps of the plan are exactly what it matches.
// In:  rules, the graph, the pool before and after pins and bans, the cover that ships. Out: a line for each rule.
// Cost: one pass over the pool for each rule.
// Not here: applying rules (node_rules.h, region/rules/user_rules.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "region/candidates.h"
#include "region/cover.h"
#include "region/rules/user_rules.h"
#include "tune/node_rules.h"

namespace collage {

struct RuleEffect {
  std::string rule;         ///< "--pin conv*=lib", "RULES.txt:3 pattern ..."
  std::string matches;      ///< what is counted: "nodes", "regions"
  std::size_t matched = 0;  ///< 0: the rule speaks of nothing in this model
  std::size_t removed = 0;  ///< candidates that it took out; of --rules: regions that backends were not asked about
  std::size_t added = 0;    ///< candidates for what it matches
  std::size_t steps = 0;    ///< of the plan, on exactly what it matches
  std::string hint;         ///< "; did you mean Conv?"
  bool operator==(const RuleEffect&) const = default;
};

/// Whether leaving the rule out would have left the same candidates.
[[nodiscard]] inline bool is_idle(const RuleEffect& effect) { return effect.removed == 0 && effect.added == 0; }

/// Of pins and bans; `pool` as it was before they were applied.
[[nodiscard]] std::vector<RuleEffect> effects_of(const Graph& graph, std::span<const NodeRule> rules,
                                                 const CandidatePool& pool);
/// Of --rules; `pool` with them applied.
[[nodiscard]] std::vector<RuleEffect> effects_of(const Graph& graph, const UserRules& rules, const CandidatePool& pool);
/// Counts the steps of a cover on what user rules match; `effects` as effects_of() gave them for `rules`.
void count_rule_steps(const Graph& graph, const UserRules& rules, const Cover& cover, std::span<RuleEffect> effects);

/// The rules that leave a node without candidates, which had some in `before` and has none in `after`, and why those
/// who refuse it do; "" when there is no such node.
[[nodiscard]] std::string nobody_left(const Graph& graph, std::span<const NodeRule> rules, const CandidatePool& before,
                                      const CandidatePool& after);

}  // namespace collage
