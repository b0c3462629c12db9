// The placement problem that an explanation holds, to search again.
// In:  an explanation as it was read, perhaps from a damaged file. Out: covers of its candidates.
// How: the graph is built from the nodes and the values between them; operators and types do not matter to the search.
// All that the search
//       requires of a graph, regions, formats and costs is checked first.
// Not here: what is asked (tune/explain/what_if.h), how it gets into the explanation (explained_problem.h).
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "plan/explain/explanation.h"
#include "search/search.h"

namespace collage {

class StoredProblem {
 public:
  /// The explanation outlives it. Error plan/no-problem.
  [[nodiscard]] static Result<StoredProblem> of(const Explanation& explanation);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// The best cover of the candidates that have a cost and are allowed. An engine that runs the whole model has only a
  /// time end to end, which does not compare. Errors of choose_cover().
  [[nodiscard]] Result<SearchResult> best(const std::function<bool(const ExplainedCandidate&)>& is_allowed) const;

 private:
  explicit StoredProblem(const Explanation& explanation);
  [[nodiscard]] std::vector<ValueId> values_at(const std::vector<std::uint32_t>& positions) const;
  [[nodiscard]] NodeSet set_of(const std::vector<std::uint32_t>& nodes) const;
  [[nodiscard]] SearchCandidate candidate(std::size_t c) const;
  /// Fewer than the search can number; formats for every port; regions that can be one step.
  [[nodiscard]] bool has_sound_candidates() const;

  const Explanation* explanation_;
  Graph graph_;
  Uses uses_;
  std::vector<ValueId> ids_;     ///< by position in the explanation
  std::vector<Region> regions_;  ///< by candidate
  std::map<std::tuple<std::uint32_t, Place, Place>, BoundaryChoice> conversions_;
};

}  // namespace collage
