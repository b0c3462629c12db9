// Measures groups of candidates beside other tuners that use the same store: what one of them measures now is left for
// last and then waited for.
// In: groups. Out: answers, from a worker (group_runner.h) or from what the other tuners stored.
// Cost: what is measured; while it waits, a look at the store every few milliseconds.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "measure/group_runner.h"

namespace collage {

/// One thread. What it is given outlives it.
class GroupTurns {
 public:
  GroupTurns(GroupRunner& runner, Store& store, AnswerBook& book, const Progress& progress)
      : runner_(runner), store_(store), book_(book), progress_(progress) {}

  /// What the limits leave over has no answer. Errors of GroupRunner::run().
  [[nodiscard]] Result<void> run(std::map<std::string, PriceGroup>& groups, const MeasureLimits& limits,
                                 Answers& answers);

 private:
  /// Leaves in the group what is ours to measure and returns the rest of what is pending: what other tuners measure.
  [[nodiscard]] PriceGroup take_leases(PriceGroup& group, Answers& answers);
  /// Takes what is there by now and measures what others gave up, until nothing is left.
  [[nodiscard]] Result<void> await_others(std::vector<PriceGroup> theirs, const MeasureLimits& limits,
                                          Answers& answers);
  [[nodiscard]] Result<void> run_leased(PriceGroup group, const std::stop_token& stop, Answers& answers);
  void report(std::size_t done, std::size_t total) const;

  GroupRunner& runner_;
  Store& store_;
  AnswerBook& book_;
  const Progress& progress_;
};

}  // namespace collage
