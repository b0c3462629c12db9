// Records what was decided by the clock in a tune: which covers still entered the contest, whether there was another
// contest, how long level 2 ran. The same tune, asked for again, takes the recorded decisions. Its contests then ask
// the questions on which the store has verdicts, so that nothing is timed.
// In:  decisions as they are taken, by stage and name. Out: the recorded ones in place of the clock's.
// Not here: the verdicts themselves (tune/confirm/hold_contest.h, tune/confirm/level2.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "store/store.h"

namespace collage {

/// One thread.
class DeadlineLog {
 public:
  /// Recalls the decisions of the tune that was asked `question` (which says all that the contests depend on but the
  /// clock) with at least this budget. Once.
  void begin(Store& store, const std::string& question, double budget_s);
  [[nodiscard]] bool has_begun() const { return !key_.empty(); }

  /// The recorded amount of this stage and name, else this one, which is recorded.
  [[nodiscard]] double amount(std::string_view stage, std::string_view name, double now);
  [[nodiscard]] bool decides(std::string_view stage, std::string_view name, bool now) {
    return amount(stage, name, now ? 1 : 0) != 0;
  }

  /// Of a tune that came to its end. Does nothing before begin().
  void save(Store& store) const;

 private:
  using Decisions = std::map<std::string, double>;  ///< "stage: name" -> what was decided

  std::string key_;
  double budget_s_ = 0;
  Decisions recalled_;
  Decisions taken_;
};

}  // namespace collage
