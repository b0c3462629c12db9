#include "timing/paired_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/dice.h"

namespace collage {
namespace {

struct Outcomes {
  int faster = 0;
  int slower = 0;
  int same = 0;
  int unsure = 0;
};

/// A round in which the test's own side was ahead by so much.
void add(PairedTest& test, double log_ratio) { test.add(std::exp(-log_ratio / 2), std::exp(log_ratio / 2)); }

/// Trials of up to `rounds` log ratios that `draw` gives.
template <class Draw>
Outcomes outcomes(int trials, int rounds, Draw draw) {
  Outcomes seen;
  for (int trial = 0; trial < trials; ++trial) {
    PairedTest test;
    for (int round = 0; round < rounds && test.verdict() == Verdict::kUnsure; ++round) add(test, draw());
    switch (test.verdict()) {
      case Verdict::kFaster:
        ++seen.faster;
        break;
      case Verdict::kSlower:
        ++seen.slower;
        break;
      case Verdict::kSame:
        ++seen.same;
        break;
      case Verdict::kUnsure:
        ++seen.unsure;
    }
  }
  return seen;
}

/// Of mean 0 and deviation 1, with a heavy tail to one side as disturbed times have.
double noise(Dice& dice) {
  const auto uniform = [&] { return static_cast<double>(dice.next() >> 11) * 0x1p-53; };
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return dice.one_in(20) ? sum + 10 * uniform() : sum;
}

TEST(PairedTest, TenRoundsOfOneSignDecide) {
  PairedTest faster;
  PairedTest slower;
  for (int round = 0; round < 9; ++round) {
    add(faster, 0.05);
    add(slower, -0.05);
    EXPECT_EQ(faster.verdict(), Verdict::kUnsure);
  }
  add(faster, 0.05);
  add(slower, -0.05);
  EXPECT_EQ(faster.verdict(), Verdict::kFaster);
  EXPECT_EQ(slower.verdict(), Verdict::kSlower);
}

TEST(PairedTest, EqualTimesAreTheSame) {
  PairedTest test;
  for (int round = 0; round < 10; ++round) add(test, 0);
  EXPECT_EQ(test.verdict(), Verdict::kSame);
}

TEST(PairedTest, VerdictStays) {
  PairedTest test;
  for (int round = 0; round < 10; ++round) add(test, 0.05);
  for (int round = 0; round < 1000; ++round) add(test, -0.05);
  EXPECT_EQ(test.verdict(), Verdict::kFaster);
}

TEST(PairedTest, LookingAfterEveryRoundSeldomFindsAWinnerWhereThereIsNone) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  Dice dice(kSeed);
  for (const double deviation : {0.003, 0.03, 0.3}) {
    const Outcomes seen = outcomes(2000, 500, [&] { return deviation * (noise(dice) - noise(dice)); });
    EXPECT_LE(seen.faster + seen.slower, 2000 * 2 / 100) << deviation;
  }
}

TEST(PairedTest, GapIsFoundAndNeverTurnedRound) {
  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE(kSeed);
  Dice dice(kSeed);
  const double gap = std::log(1.05);
  const Outcomes seen = outcomes(2000, 200, [&] { return gap + 0.03 * (noise(dice) - noise(dice)); });
  EXPECT_GE(seen.faster, 2000 * 95 / 100);
  EXPECT_LE(seen.slower, 0);
  EXPECT_LE(seen.same, 2000 / 100);
}

TEST(PairedTest, NeighbourWhoSlowsEitherNowAndThenHidesNoGap) {
  constexpr std::uint64_t kSeed = 13;
  SCOPED_TRACE(kSeed);
  Dice dice(kSeed);
  int found = 0;
  for (int trial = 0; trial < 300; ++trial) {
    PairedTest test;
    // Half of all samples take up to twice as long.
    const auto slowed = [&](double time) {
      return dice.one_in(2) ? time * (1 + 0.01 * static_cast<double>(dice.below(100))) : time;
    };
    for (int round = 0; round < 250 && test.verdict() == Verdict::kUnsure; ++round) test.add(slowed(1), slowed(1.05));
    found += test.verdict() == Verdict::kFaster;
    EXPECT_NE(test.verdict(), Verdict::kSlower);
  }
  EXPECT_GE(found, 290);
}

TEST(PairedTest, BiasBelowTheMarginIsNoWin) {
  PairedTest test;
  for (int round = 0; round < 1000; ++round) add(test, 0.008);
  EXPECT_EQ(test.verdict(), Verdict::kSame);
}

TEST(PairedTest, VerdictsHaveNames) {
  for (const Verdict verdict : {Verdict::kUnsure, Verdict::kFaster, Verdict::kSlower, Verdict::kSame})
    EXPECT_EQ(verdict_named(name_of(verdict)), verdict);
  EXPECT_EQ(verdict_named("perhaps"), std::nullopt);
}

}  // namespace
}  // namespace collage
