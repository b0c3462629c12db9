#include "tune/confirm/contest_time.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

constexpr double kBudget = 60;

TEST(ContestTime, ShortContestsAreKeptTimeForAFinalAndForCovers) { EXPECT_EQ(kept_for_contests_s(2, kBudget), 10); }

TEST(ContestTime, ContestsOfSlowModelsAreKeptAQuarterOfTheBudget) {
  EXPECT_EQ(kept_for_contests_s(4, kBudget), 15);
  EXPECT_EQ(kept_for_contests_s(5, kBudget), 15);
}

TEST(ContestTime, AQuarterIsExceededForTheShortestContestThatDecides) {
  EXPECT_EQ(kept_for_contests_s(6, kBudget), 18);
}

TEST(ContestTime, CandidatesKeepMostOfTheBudgetHoweverLongARunTakes) {
  EXPECT_EQ(kept_for_contests_s(20, kBudget), 21);
  EXPECT_EQ(kept_for_contests_s(100, kBudget), 21);
}

TEST(ContestTime, SecondFormsOfEnginesAreForContestsThatLeaveCandidatesTheirTime) {
  EXPECT_TRUE(has_time_for_second_forms(3, kBudget));
  EXPECT_FALSE(has_time_for_second_forms(3.1, kBudget));
  EXPECT_FALSE(has_time_for_second_forms(3, kBudget / 3));
}

TEST(ContestTime, TheNextContestTakesLongerByItsPlansAndItsFinal) {
  EXPECT_EQ(ContestTime().next_s(3), 0) << "nothing is known of contests yet";
  EXPECT_EQ((ContestTime{.seconds = 4, .plans = 2, .had_final = true}.next_s(3)), 6);
  EXPECT_EQ((ContestTime{.seconds = 4, .plans = 2, .had_final = false}.next_s(3)), 9);
}

TEST(ContestTime, AContestOfTheFewestRoundsTakesLittleLongerThanOneOfASingleRound) {
  EXPECT_GT(shortest_contest_s(10), 10);
  EXPECT_LT(shortest_contest_s(10), 20);
}

}  // namespace
}  // namespace collage
