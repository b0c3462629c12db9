// The costs of a pool during lazy pricing: measured or sampled costs, and forecasts for the others. Candidates that are
// the same computation on the same backend share one cost. In:  a pool, costs as they arrive. Out: costs for a search;
// the candidates that are not measured yet. Cost: linear in the pool.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/jobs.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/covers.h"
#include "tune/price/segment_savings.h"

namespace collage {

class LazyCosts {
 public:
  /// Pool and bounds outlive it. Costs in `known`, by candidate, are there from the start; none for an empty one.
  LazyCosts(const Graph& graph, const CandidatePool& pool, CostBounds& bounds, std::vector<Cost> known = {});

  /// Whether a candidate has at most so many nodes, or is the smallest one for some node: nobody takes that node in
  /// less. Nothing is, for 0.
  [[nodiscard]] bool is_small_enough(std::size_t candidate, std::size_t max_nodes) const;
  /// Known costs and, for candidates that are small enough, forecasts (Estimated) of the others; else unknown.
  [[nodiscard]] std::vector<Cost> forecast(Forecast kind, std::size_t max_nodes) const;
  /// Puts forecasts for these and for all that are the same computation, of which nothing is known.
  void put_forecasts(std::span<const std::size_t> candidates, Forecast kind, std::vector<Cost>& costs) const;
  /// Puts what is known of the computation, if anything is.
  void put_known(std::size_t candidate, std::vector<Cost>& costs) const;
  /// What is neither measured nor sampled, one of each computation, ascending.
  [[nodiscard]] std::vector<std::size_t> open() const;
  /// The same, what should save most in place of the steps of a cover that compute its nodes first.
  [[nodiscard]] std::vector<std::size_t> open_by_saving(const Cover& cover) const;
  /// What a computation should save in a cover, in nanoseconds: with hopeful costs of it the cover is this one, and
  /// takes `hoped_gain_ns` less.
  [[nodiscard]] double expected_saving(std::size_t candidate, const Cover& hopeful, std::int64_t hoped_gain_ns) const;
  /// Of `candidates`, which `hoped` uses: those of which something is known, or that should save at least this, in
  /// nanoseconds, in the segments in which that cover and the known one differ.
  [[nodiscard]] std::vector<std::size_t> worth_knowing(std::vector<std::size_t> candidates, const Cover& known,
                                                       const std::vector<NamedCover>& hoped, double least_ns) const;
  /// Of `candidates`, which `hoped` uses, with nanoseconds: what each should save in the segments in which that cover
  /// and another one differ, where what a segment saves is shared by those of which nothing is known. Most first.
  [[nodiscard]] std::vector<std::pair<double, std::size_t>> by_share(const std::vector<std::size_t>& candidates,
                                                                     const Cover& cover,
                                                                     const std::vector<NamedCover>& hoped) const;
  /// Puts unknown for them.
  void leave_out(std::span<const std::size_t> candidates, std::vector<Cost>& costs) const;
  [[nodiscard]] bool is_unseen(std::size_t candidate) const;
  /// Whether the candidate's backend also runs whole models.
  [[nodiscard]] bool is_of_engine(std::size_t candidate) const { return bounds_.is_of_engine(candidate); }
  /// What nothing is known of and is made slowly, where each of its nodes is in a candidate that is not, and that may
  /// work.
  [[nodiscard]] std::vector<std::size_t> slow_to_make(
      const std::function<bool(std::size_t candidate)>& is_made_slowly) const;
  /// What the covers use and nothing is known of; where the effort is kTime, also what is only sampled. Only steps that
  /// cost at least `least_ns` in them. One of each computation, ascending.
  [[nodiscard]] std::vector<std::size_t> open_in(const std::vector<NamedCover>& covers, Effort effort,
                                                 std::int64_t least_ns = 0) const;
  /// What nothing is known of, has several nodes and should take at least `least_ns`, but save at least
  /// `least_saving_ns` in place of the steps of the cover that compute these nodes. One of each computation, ascending.
  [[nodiscard]] std::vector<std::size_t> open_long(const Cover& cover, std::int64_t least_ns,
                                                   double least_saving_ns) const;
  /// Algorithms of which the forecasts know too little (CostBounds::untried_algorithm) to leave them out: of each one
  /// candidate, where those steps of the cover together take at least `least_ns` that it could compute and should take
  /// up to kFarOff times as long for.
  [[nodiscard]] std::vector<std::size_t> untried_for_long_steps(const Cover& cover, double least_ns) const;
  void learn(std::size_t candidate, const Cost& cost);
  /// Lets forecasts know what was learnt.
  void fit() { bounds_.fit(); }

  /// Unknown for what was neither measured nor sampled.
  [[nodiscard]] const std::vector<Cost>& known() const { return costs_; }
  /// Computations measured or sampled.
  [[nodiscard]] std::size_t measured_count() const { return measured_count_; }

 private:
  /// Puts a cost for all that are the same computation and of which nothing is known.
  void put(std::size_t candidate, const Cost& cost, std::vector<Cost>& costs) const;
  /// What the steps of a cover should save in place of those of another.
  [[nodiscard]] std::map<std::uint32_t, SegmentSaving> savings(const Cover& cover, const Cover& hoped) const;
  /// By class, the time of its steps in a cover.
  [[nodiscard]] std::map<std::uint32_t, double> times_in(const Cover& cover) const;
  /// By algorithm that was not tried, of the candidates with the nodes of this one that may be as fast: the forecast in
  /// parts of its time, and the candidate, of which that is the least.
  [[nodiscard]] std::map<std::uint32_t, std::pair<double, std::size_t>> untried_in_place_of(std::size_t chosen) const;
  /// The candidate of the pool that a step of a cover is; nothing for steps that are no kernels of the pool.
  [[nodiscard]] std::optional<std::size_t> candidate_of(const CoverStep& step) const;

  const CandidatePool& pool_;
  CostBounds& bounds_;
  std::vector<Cost> costs_;
  std::vector<std::uint32_t> class_of_;                   ///< by candidate
  std::vector<std::vector<std::size_t>> members_;         ///< by class
  std::map<NodeSet, std::vector<std::size_t>> by_nodes_;  ///< candidates
  std::vector<bool> is_smallest_;                         ///< by candidate, for some node
  std::size_t measured_count_ = 0;
};

}  // namespace collage
