// Computes margins: how much more a plan would cost with another candidate, for every candidate of a pool.
// In:  the facts of an explanation. Out: margins relative to the explained plan; which step runs each of its nodes.
// How: the least extra cost of a known plan with the candidate (an exchange in place, or another plan that competed).
//       For candidates that were never measured, the least extra cost of any cover with them.
// Cost: one exchange for each candidate (tune/explain/exchange.h).
// Source: reduced costs of linear programming.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tune/explain/explanation.h"

namespace collage {

struct Margin {
  std::int64_t ns = std::numeric_limits<std::int64_t>::max();  ///< of kNothing: beyond all others
  MarginBy by = MarginBy::kNothing;
};

struct Margins {
  const CompetingPlan* cover =
      nullptr;       ///< the plan that ships, or the best cover that a rival has beaten; null = none
  ExplainedSum sum;  ///< of its costs alone
  std::optional<std::int64_t> cover_ns;               ///< what that comes to
  std::vector<Margin> at_most;                        ///< by candidate
  std::vector<std::optional<std::int64_t>> at_least;  ///< by candidate; of those never measured
  /// By node: the candidate that covers it, nothing for one that is not in the pool; empty when a rival ships.
  std::vector<std::optional<std::uint32_t>> chosen;
  std::vector<const CoverStep*> steps;  ///< by node; empty when a rival ships
};

[[nodiscard]] Margins margins_of(const ExplainInputs& inputs, const Uses& uses);

}  // namespace collage
