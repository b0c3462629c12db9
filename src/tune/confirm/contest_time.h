// How much of the budget contests get, told from what the first one took.
// In:  seconds of a contest, the budget. Out: seconds kept for the contests to come; whether there is time for more.
// How: loading and first runs are the same in each contest; later ones have more rounds and more plans. Where runs are
//      short all of them are small; where a run takes a second they would leave candidates no time.
// Not here: what of the budget other parts of a tune get (tune/budget.h).
#pragma once

#include <cstddef>

namespace collage {

/// What the contests after the first one may take. At most 35 % of the budget: without candidates there is nothing to
/// confirm.
[[nodiscard]] double kept_for_contests_s(double first_s, double budget_s);

/// What a contest takes that has the fewest rounds and one plan more than the last one.
[[nodiscard]] double shortest_contest_s(double last_s);

/// Whether the engines' second forms may take part: not where their time would be that of candidates.
[[nodiscard]] bool has_time_for_second_forms(double first_s, double budget_s);

/// What a contest took.
struct ContestTime {
  double seconds = 0;
  std::size_t plans = 0;
  bool had_final = false;

  /// What a contest with a final takes with so many plans, as far as this one tells; 0 when nobody took part in it.
  [[nodiscard]] double next_s(std::size_t next_plans) const;
};

}  // namespace collage
