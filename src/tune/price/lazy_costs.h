// The costs of a pool during lazy pricing: measured costs, and forecasts for the others. Candidates that are the same
// computation on the same backend share one cost.
// In:  a pool, costs as they arrive. Out: costs for a search; the candidates that are not measured yet.
// Cost: linear in the pool.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tune/price/cost_bounds.h"
#include "tune/price/covers.h"

namespace collage {

class LazyCosts {
 public:
  /// Pool and bounds outlive it. Costs in `known`, by candidate, are there from the start; none for an empty one.
  LazyCosts(const Graph& graph, const CandidatePool& pool, CostBounds& bounds, std::vector<Cost> known = {});

  /// Measured costs and, for regions of at most `max_nodes`, forecasts (Estimated) of the others; else unknown.
  [[nodiscard]] std::vector<Cost> forecast(Forecast kind, std::size_t max_nodes) const;
  /// Puts hopeful costs for these and for all that are the same computation.
  void lower_to_hope(std::span<const std::size_t> candidates, std::vector<Cost>& costs) const;
  /// Puts what was measured of the computation, if it was.
  void put_measured(std::size_t candidate, std::vector<Cost>& costs) const;
  /// What is not measured, one of each computation, ascending.
  [[nodiscard]] std::vector<std::size_t> open() const;
  /// What the covers use and is not measured, one of each computation, ascending.
  [[nodiscard]] std::vector<std::size_t> open_in(const std::vector<NamedCover>& covers) const;
  void learn(std::size_t candidate, const Cost& cost);
  /// Lets forecasts know what was learnt.
  void fit() { bounds_.fit(); }

  /// Unknown for what was not measured.
  [[nodiscard]] const std::vector<Cost>& measured() const { return costs_; }
  [[nodiscard]] std::size_t measured_count() const { return measured_count_; }

 private:
  [[nodiscard]] bool is_open(std::size_t candidate) const;

  const CandidatePool& pool_;
  CostBounds& bounds_;
  std::vector<Cost> costs_;
  std::vector<std::uint32_t> class_of_;                   ///< by candidate
  std::vector<std::vector<std::size_t>> members_;         ///< by class
  std::map<NodeSet, std::vector<std::size_t>> by_nodes_;  ///< candidates
  std::size_t measured_count_ = 0;
};

}  // namespace collage
