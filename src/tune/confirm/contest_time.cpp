#include "tune/confirm/contest_time.h"

#include <algorithm>

namespace collage {
namespace {

/// How many times as long as the first contest those take that follow: with covers, the engines' second forms, a final.
constexpr double kContestsAhead = 5;
/// The same of the shortest contest that decides.
constexpr double kShortContest = 3;
/// The same of one with the fewest rounds, where runs are so long that the first contest has one round.
constexpr double kFewestRoundsContest = 1.75;
/// Of the budget, for contests where a longer one would decide more.
constexpr double kContestShare = 0.25;
/// Of the budget: the longest first contest that leaves time for the engines' second forms.
constexpr double kSecondFormsShare = 0.05;
/// Of the budget, for contests whatever they decide.
constexpr double kMostContestShare = 0.35;
/// How much longer a plan takes in a contest with a final than in one without.
constexpr double kWithFinal = 1.5;

}  // namespace

double kept_for_contests_s(double first_s, double budget_s) {
  const double short_s = std::max(kShortContest * first_s, kContestShare * budget_s);
  return std::min({kContestsAhead * first_s, short_s, kMostContestShare * budget_s});
}

double shortest_contest_s(double last_s) { return kFewestRoundsContest * last_s; }

bool has_time_for_second_forms(double first_s, double budget_s) { return first_s <= kSecondFormsShare * budget_s; }

double ContestTime::next_s(std::size_t next_plans) const {
  if (plans == 0) return 0;
  const double one_s = (had_final ? 1 : kWithFinal) * seconds / static_cast<double>(plans);
  return one_s * static_cast<double>(next_plans);
}

}  // namespace collage
