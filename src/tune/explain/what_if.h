// Chooses the cover of a plan again, when certain nodes must be run by certain backends, from what the plan itself
// says. In:  an explanation, rules. Out: the best cover of the explained candidates under them, and what it costs more.
// How: the graph is built again from the explanation: nodes, the values between them, candidates with their formats,
// and
//      conversions. The search is that of a tune. An explanation has the best candidate of each backend for each node,
//      not all that the tune knew, so a tune with --pin may find a better cover.
// Cost: one search with the rules and one without.
// Not here: what the explanation holds for this (explained_problem.h), one candidate put in place of others
// (exchange.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/explain/explanation.h"
#include "timing/race.h"

namespace collage {

/// This backend runs this node.
struct WhatIfRule {
  std::string node;
  std::string backend;
  std::string variant;  ///< "" = any
};

/// "NODE=BACKEND" or "NODE=BACKEND/VARIANT"; all may hold '=', so the longest NODE that the plan has is taken. Errors
/// cli/bad-option, plan/no-such-node, plan/no-such-offer.
[[nodiscard]] Result<WhatIfRule> parse_what_if(const Explanation& explanation, const std::string& text);

/// A step of one cover that the other one does not have.
struct WhatIfStep {
  std::string backend;
  std::string variant;
  std::vector<std::string> nodes;  ///< of a conversion none
  std::string moved;               ///< of a conversion: "VALUE: FROM to TO"
  Nanoseconds ns = 0;              ///< alone
  bool estimated = false;          ///< nobody measured it
};

struct WhatIf {
  std::vector<WhatIfRule> rules;
  Nanoseconds best_ns = 0;        ///< the best cover of the explained candidates without the rules
  Nanoseconds under_ns = 0;       ///< under them
  bool exact = true;              ///< a limit of the search left no cover out
  std::vector<WhatIfStep> gone;   ///< steps of the best cover that the one under the rules does not have
  std::vector<WhatIfStep> added;  ///< and the steps that it has in their place
};

/// Errors plan/no-problem for an explanation without costs of a cover, or a damaged one; plan/no-cover when the
/// explained candidates cannot keep to the rules.
[[nodiscard]] Result<WhatIf> what_if(const Explanation& explanation, const std::vector<WhatIfRule>& rules);

/// A plan under the rules, raced against the one at hand.
struct MeasuredWhatIf {
  std::string who;  ///< what the other plan is: "mixed", or an engine
  double us = 0;    ///< its median, end to end
  double plan_us = 0;
  Ratio faster;  ///< above 1: the other plan is faster than the one at hand
};

[[nodiscard]] std::string to_text(const WhatIf& answer, const std::optional<MeasuredWhatIf>& times = {});
/// Schema "collage.what-if/1".
[[nodiscard]] std::string to_json(const WhatIf& answer, const std::optional<MeasuredWhatIf>& times = {});

}  // namespace collage
