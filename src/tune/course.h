// What the clock decided in a tune after its candidates were measured: which covers still came to the contest, whether
// there was another one, how long level 2 had.
// In: decisions in the order in which they are asked for. Out: the same answers when the same tune is asked for again,
// so that it asks its contests the questions that the store has verdicts on, and times nothing.
// Not here: the verdicts themselves (tune/confirm/contest.h, tune/confirm/level2.h).
// Cost: one entry of the store for each tune.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace collage {

/// One thread.
class Course {
 public:
  /// Recalls the answers of the tune that was asked `question` (which says all that the contests depend on but the
  /// clock) with at least this budget. Once.
  void begin(Store& store, const std::string& question, double budget_s);
  [[nodiscard]] bool has_begun() const { return !key_.empty(); }

  /// The recalled answer, else this one.
  [[nodiscard]] double amount(double now);
  [[nodiscard]] bool decides(bool now) { return amount(now ? 1 : 0) != 0; }

  /// Of a tune that came to its end. Does nothing before begin().
  void save(Store& store) const;

 private:
  std::string key_;
  double budget_s_ = 0;
  std::vector<double> recalled_;
  std::vector<double> answers_;
};

}  // namespace collage
