// Explains the plan that ships: for each node the backend that runs it, the best other offers and their extra cost,
// refusals, what was never measured; for the plan as a whole its gaps and losses.
// In:  the simplified graph, the pool with costs measured alone, the plans that competed, bounds. Out: an Explanation.
// How: a margin is the least of three costs that some real plan has (MarginBy). The sum of the least shares of all
//       nodes bounds what a candidate that was never measured could achieve. Pure: the same inputs give the same
//       explanation.
// Cost: one exchange for each candidate of the pool (tune/explain/exchange.h).
// Not here: the data type and its JSON (plan/explain/explanation.h), its text (plan/explain/explain.h).
// Source: additive error, apparent loss, optimality loss: TVM's RFC 62.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/explain/explanation.h"
#include "region/rules/user_rules.h"
#include "search/search.h"
#include "tune/locations.h"
#include "tune/node_rules.h"

namespace collage {

/// A plan that competed end to end.
struct CompetingPlan {
  std::string name;
  const Cover* cover = nullptr;  ///< over the graph explained; of a whole-model engine one step over any graph
  std::int64_t median_ns = 0;    ///< end to end; 0 = not known
  bool is_rival = false;         ///< a whole-model engine
  bool is_single = false;        ///< all steps are of one backend, beside the host's; rivals included
  bool is_alternative = false;   ///< one of the best covers, for comparison only: it was never a plan
};

struct ExplainInputs {
  const Graph* graph = nullptr;
  const CandidatePool* pool = nullptr;
  std::vector<Cost> costs;                   ///< by candidate, alone; infeasible with its refusal
  std::vector<std::int64_t> lower_bound_ns;  ///< by candidate: it takes no less; empty = 0 for all
  BoundaryTable conversions;
  Locations locations = {};
  std::int64_t launch_ns = SearchOptions().launch_ns;
  std::vector<CompetingPlan> plans;  ///< alternatives by cost
  std::size_t shipped = 0;           ///< of plans
  std::optional<std::int64_t> model_bound_ns;
  std::optional<std::int64_t> proven_bound_ns;
  bool alternatives_complete = false;  ///< no other cover comes between
  std::string why_no_alternatives;     ///< "" when they were searched

  std::vector<std::string> backends;  ///< that may take nodes whatever the others do
  std::vector<std::string> fillers;   ///< that take only what those refuse
  std::string only;
  std::map<std::string, std::string> absent;  ///< asked for but not usable here, and why
  std::span<const NodeRule> rules;
  std::span<const UserRule> user_rules = {};
  std::map<std::string, std::string> proposals = {};  ///< backend -> its own rules for which regions it is asked about
  std::optional<ExplainedPrecision> precision = std::nullopt;
  std::optional<ExplainedPeak> peak = std::nullopt;
  std::vector<Unmeasured> why_unmeasured;  ///< by candidate, said of those with an unknown cost; empty = not known
};

[[nodiscard]] Explanation explain_cover(const ExplainInputs& inputs);

}  // namespace collage
