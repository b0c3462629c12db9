// Combines the progress of the parts of a tune: the share of a phase that is done over all its batches, refusals, the
// best time so far, the expected remaining time.
// In:  events of the parts, each with its own counts. Out: events whose counts never decrease within a phase.
// Not here: how it is shown (cli/console.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/progress.h"

namespace collage {

/// One thread. Not moved: the callbacks it gives out refer to it.
class ProgressMeter {
 public:
  /// `sink` may be empty. `elapsed_s`: seconds since the work began.
  ProgressMeter(Progress sink, double budget_s, std::function<double()> elapsed_s);
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

  /// What the parts call.
  [[nodiscard]] Progress sink();
  /// Microseconds end to end of the best plan so far, and of the fastest engine, "" when none runs.
  void know_best(double us, std::string rival = {}, double rival_us = 0) {
    best_us_ = us;
    rival_ = std::move(rival);
    rival_us_ = rival_us;
  }
  /// Microseconds that no cover takes less than.
  void know_bound(double us) { bound_us_ = us; }

 private:
  /// Of one phase: batches that are over, and the one at work.
  struct Phase {
    double begin_s = 0;     ///< of the batch at work, when it was first heard of
    std::size_t begun = 0;  ///< what was done of it then
    std::size_t over = 0;
    std::size_t done = 0;
    std::size_t total = 0;
    std::size_t refused_over = 0;
    std::size_t refused = 0;
  };

  void pass_on(ProgressEvent event);
  const Phase& add_up(ProgressEvent& event);
  [[nodiscard]] double left_s(const Phase& phase) const;

  Progress sink_;
  double budget_s_;
  std::function<double()> elapsed_s_;
  std::map<std::string, Phase> phases_;
  double best_us_ = 0;
  std::string rival_;
  double rival_us_ = 0;
  double bound_us_ = 0;
};

}  // namespace collage
