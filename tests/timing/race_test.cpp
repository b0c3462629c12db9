#include "timing/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace collage {
namespace {

RaceLane lane(std::vector<std::int64_t> samples) { return {.name = "lane", .samples_ns = std::move(samples)}; }

TEST(RaceLanes, MedianAndQuantilesAreSamples) {
  const RaceLane five = lane({50, 10, 30, 20, 40});
  EXPECT_EQ(five.median_ns(), 30);
  EXPECT_EQ(five.quantile_ns(0), 10);
  EXPECT_EQ(five.quantile_ns(1), 50);
  EXPECT_EQ(five.quantile_ns(0.9), 50);
  EXPECT_EQ(lane({7}).median_ns(), 7);
  EXPECT_EQ(lane({}).median_ns(), 0);
}

TEST(PairedRatio, IsOfRoundsNotOfMedians) {
  // The machine slows down by ten in the course; round by round the one is exactly twice as fast.
  const Ratio ratio = paired_ratio(lane({20, 40, 80, 160, 200}), lane({10, 20, 40, 80, 100}));
  EXPECT_DOUBLE_EQ(ratio.ratio, 2);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
}

TEST(PairedRatio, IntervalHoldsOneWhenNothingCanBeTold) {
  const Ratio ratio = paired_ratio(lane({100, 110, 100, 110, 100, 110}), lane({110, 100, 110, 100, 110, 100}));
  EXPECT_LT(ratio.low, 1);
  EXPECT_GT(ratio.high, 1);
  EXPECT_LE(ratio.low, ratio.ratio);
  EXPECT_GE(ratio.high, ratio.ratio);
}

TEST(PairedRatio, OneOutlierDoesNotDecide) {
  std::vector<std::int64_t> slow(21, 120);
  const std::vector<std::int64_t> fast(21, 100);
  slow[3] = 1;
  const Ratio ratio = paired_ratio(lane(slow), lane(fast));
  EXPECT_DOUBLE_EQ(ratio.ratio, 1.2);
  EXPECT_GT(ratio.low, 1);
}

TEST(PairedRatio, IsTheSameEveryTimeAndOneWithoutSamples) {
  const RaceLane a = lane({5, 6, 7, 8, 9, 10});
  const RaceLane b = lane({6, 5, 9, 7, 8, 6});
  EXPECT_EQ(paired_ratio(a, b).low, paired_ratio(a, b).low);
  EXPECT_EQ(paired_ratio(a, lane({})).ratio, 1);
}

RaceOptions short_race(std::size_t rounds) {
  return {.min_rounds = rounds,
          .max_rounds = rounds,
          .seconds = 0,
          .min_sample_ns = 0,
          .heat_ns = 1,
          .discards_disturbed = false,
          .seed = 3,
          .stop = {}};
}

TEST(Race, EveryRoundHasEveryContender) {
  std::vector<char> order;
  const auto contender = [&](char name) {
    return Contender{.name = {name}, .run = [&order, name]() -> Result<void> {
                       order.push_back(name);
                       return {};
                     }};
  };
  const auto lanes = race({contender('a'), contender('b'), contender('c')}, short_race(7));
  ASSERT_TRUE(lanes);
  ASSERT_EQ(lanes->size(), 3U);
  for (const RaceLane& one : *lanes) EXPECT_EQ(one.samples_ns.size(), 7U);
  // Three runs each to warm up, then rounds of one untimed and one timed run each.
  ASSERT_EQ(order.size(), 9U + 7 * 6);
  bool shuffled = false;
  for (std::size_t round = 0; round < 7; ++round) {
    std::string names(order.begin() + 9 + static_cast<std::ptrdiff_t>(6 * round),
                      order.begin() + 15 + static_cast<std::ptrdiff_t>(6 * round));
    shuffled = shuffled || names != "aabbcc";
    std::ranges::sort(names);
    EXPECT_EQ(names, "aabbcc");
  }
  EXPECT_TRUE(shuffled);
}

TEST(Race, WithoutHeatThereIsOneRunToWarmUpAndNoneBeforeASample) {
  int runs = 0;
  const Contender contender = {.name = "a", .run = [&]() -> Result<void> {
                                 ++runs;
                                 return {};
                               }};
  RaceOptions options = short_race(4);
  options.heat_ns = 0;
  ASSERT_TRUE(race({contender}, options));
  EXPECT_EQ(runs, 2 + 4);
}

/// A contender that takes as long as it is told, give or take what the machine adds.
Contender spinning(const std::string& name, std::chrono::microseconds time) {
  return {.name = name, .run = [time]() -> Result<void> {
            const auto end = std::chrono::steady_clock::now() + time;
            while (std::chrono::steady_clock::now() < end) {
            }
            return {};
          }};
}

TEST(Race, EndsWhenAllIsDecidedAndRetiresTheBeaten) {
  RaceOptions options = short_race(1000);
  options.decided_rounds = 9;
  const auto lanes = race({spinning("a", std::chrono::microseconds(100)), spinning("b", std::chrono::microseconds(150)),
                           spinning("c", std::chrono::microseconds(300))},
                          options);
  ASSERT_TRUE(lanes);
  EXPECT_LT((*lanes)[0].samples_ns.size(), 1000U);
  EXPECT_GT(median_ratio((*lanes)[1], (*lanes)[0]), 1.1);
  EXPECT_GT(median_ratio((*lanes)[2], (*lanes)[0]), 1.1);
  EXPECT_GE((*lanes)[0].samples_ns.size(), (*lanes)[2].samples_ns.size());
}

/// A contender that says by its own clock how long it took.
Contender saying(const std::string& name, std::int64_t ns) {
  return {.name = name,
          .run = [] { return Result<void>(); },
          .timed_elsewhere = [ns](std::int64_t runs) -> Result<std::int64_t> { return runs * ns; }};
}

TEST(Race, WhoIsFarBehindRunsTheFewestRounds) {
  RaceOptions options = short_race(20);
  options.decided_rounds = 20;
  const auto lanes = race({saying("a", 100), saying("b", 160)}, options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ((*lanes)[0].samples_ns.size(), 20U);
  EXPECT_EQ((*lanes)[1].samples_ns.size(), kFewestRounds);
}

TEST(Race, WhoIsHopelessRunsOneRoundWhereThatWillDo) {
  RaceOptions options = short_race(20);
  options.decided_rounds = 20;
  options.hopeless_ratio = 2.5;
  std::vector<std::int64_t> times = {400, 200, 400};  // quick once, so that one round does not tell
  Contender uneven = saying("uneven", 0);
  uneven.timed_elsewhere = [at = std::size_t{0}, times](std::int64_t runs) mutable -> Result<std::int64_t> {
    return runs * times[std::min(at++, times.size() - 1)];
  };
  options.heat_ns = 0;
  const auto lanes = race({saying("a", 100), saying("b", 251), saying("c", 249), uneven}, options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ((*lanes)[0].samples_ns.size(), 20U);
  EXPECT_EQ((*lanes)[1].samples_ns.size(), 1U);
  EXPECT_EQ((*lanes)[2].samples_ns.size(), kFewestRounds);
  EXPECT_EQ((*lanes)[3].samples_ns.size(), kFewestRounds);
}

TEST(Race, WhoIsFarBehindRunsOneRoundWhenTheTimeIsOver) {
  RaceOptions options = short_race(20);
  options.decided_rounds = 20;
  options.hopeless_ratio = 2.5;
  options.heat_ns = 0;
  options.most_seconds = 1e-9;
  const auto lanes = race({saying("a", 100), saying("b", 160), saying("c", 140)}, options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ((*lanes)[0].samples_ns.size(), kFewestRounds);
  EXPECT_EQ((*lanes)[1].samples_ns.size(), 1U);
  EXPECT_EQ((*lanes)[2].samples_ns.size(), kFewestRounds);
}

TEST(Race, ALongRoundEndsTheRaceWhereOneWillDo) {
  const Contender slow{.name = "slow", .run = []() -> Result<void> {
                         std::this_thread::sleep_for(std::chrono::milliseconds(20));
                         return {};
                       }};
  RaceOptions options = short_race(3);
  options.long_rounds = {.seconds = 0.02, .enough = 1};
  const auto lanes = race({slow, saying("b", 100)}, options);
  ASSERT_TRUE(lanes);
  for (const RaceLane& lane : *lanes) EXPECT_EQ(lane.samples_ns.size(), 1U) << lane.name;
}

TEST(Race, ALongRoundTellsWhoIsHopeless) {
  const Contender slow{.name = "slow", .run = []() -> Result<void> {
                         std::this_thread::sleep_for(std::chrono::milliseconds(20));
                         return {};
                       }};
  RaceOptions options = short_race(5);
  options.decided_rounds = 5;
  options.heat_ns = 0;
  options.long_rounds = {.seconds = 0.02, .hopeless_ratio = 2.5};
  const auto lanes = race({slow, saying("b", 100), saying("c", 249)}, options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ((*lanes)[0].samples_ns.size(), 1U);
  EXPECT_EQ((*lanes)[1].samples_ns.size(), 5U);
  EXPECT_EQ((*lanes)[2].samples_ns.size(), kFewestRounds);
}

/// A contender whose runs take so long, and are counted.
Contender counting(std::int64_t& runs, std::int64_t run_ns) {
  Contender contender = saying("a", run_ns);
  contender.timed_elsewhere = [&runs, run_ns](std::int64_t count) -> Result<std::int64_t> {
    runs += count;
    return count * run_ns;
  };
  return contender;
}

TEST(Race, LongRunsThatWereTimedBeforeAreNotTimedToFindOut) {
  std::int64_t runs = 0;
  Contender slow = counting(runs, 200'000'000);
  slow.ran_ns = 400'000'000;
  ASSERT_TRUE(race({slow}, short_race(3)));
  EXPECT_EQ(runs, 3);
  slow.ran_ns = 80'000'000;  // of which half may have been cold
  runs = 0;
  ASSERT_TRUE(race({slow}, short_race(3)));
  EXPECT_EQ(runs, 1 + 3);
}

TEST(Race, RunsOfWhichOneIsASampleAreNotTimedToFindOut) {
  std::int64_t runs = 0;
  Contender contender = counting(runs, 10'000'000);
  contender.ran_ns = 12'000'000;
  RaceOptions options = short_race(3);
  options.heat_ns = 3'000'000;
  ASSERT_TRUE(race({contender}, options));
  EXPECT_EQ(runs, 3 * 2) << "one to heat and one sample, in each round";
  contender.ran_ns = 0;
  runs = 0;
  ASSERT_TRUE(race({contender}, options));
  EXPECT_EQ(runs, 1 + 3 * 2);
}

TEST(Race, LongRunsNeedNoneToWarmUp) {
  std::int64_t runs = 0;
  Contender slow = counting(runs, 60'000'000);
  ASSERT_TRUE(race({slow}, short_race(3)));
  EXPECT_EQ(runs, 1 + 3);
}

TEST(Race, TimeLimitLeavesTheFewestRounds) {
  RaceOptions options = short_race(1000);
  options.most_seconds = 1e-9;
  const auto lanes = race({spinning("a", std::chrono::microseconds(10))}, options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ((*lanes)[0].samples_ns.size(), kFewestRounds);
}

TEST(Race, BuffersAreRenewedBetweenRounds) {
  int renewed = 0;
  Contender contender = spinning("a", std::chrono::microseconds(1));
  contender.renew = [&] { ++renewed; };
  ASSERT_TRUE(race({contender}, short_race(20)));
  EXPECT_EQ(renewed, 5);
}

TEST(VerdictOf, LooksAtCommonRoundsOnly) {
  EXPECT_EQ(verdict_of(lane(std::vector<std::int64_t>(30, 100)), lane(std::vector<std::int64_t>(12, 110))),
            Verdict::kFaster);
  EXPECT_EQ(verdict_of(lane(std::vector<std::int64_t>(30, 100)), lane({110, 110})), Verdict::kUnsure);
  EXPECT_EQ(verdict_of(lane(std::vector<std::int64_t>(30, 100)), lane(std::vector<std::int64_t>(30, 100))),
            Verdict::kSame);
}

TEST(LikelyVerdict, AFewRoundsTellWhatDiffersByMuch) {
  const RaceLane fast{.name = "fast", .samples_ns = {100, 101, 99, 100, 102}};
  const RaceLane slow{.name = "slow", .samples_ns = {130, 133, 129, 131, 130}};
  EXPECT_EQ(verdict_of(fast, slow), Verdict::kUnsure) << "too few for a sequential test";
  EXPECT_EQ(likely_verdict(fast, slow), Verdict::kFaster);
  EXPECT_EQ(likely_verdict(slow, fast), Verdict::kSlower);
}

TEST(LikelyVerdict, NoiseAndFewerRoundsLeaveItOpen) {
  const RaceLane one{.name = "one", .samples_ns = {100, 120, 99, 118, 102}};
  const RaceLane other{.name = "other", .samples_ns = {117, 101, 119, 100, 121}};
  EXPECT_EQ(likely_verdict(one, other), Verdict::kUnsure);
  const RaceLane few{.name = "few", .samples_ns = {140, 140, 140, 140}};
  EXPECT_EQ(likely_verdict(one, few), Verdict::kUnsure);
}

TEST(LikelyVerdict, TheFewestRoundsTellWhoIsFarBehind) {
  const RaceLane fast{.name = "fast", .samples_ns = {100, 120, 99}};
  const RaceLane slow{.name = "slow", .samples_ns = {200, 200, 200}};
  EXPECT_EQ(likely_verdict(fast, slow), Verdict::kFaster);
  EXPECT_EQ(likely_verdict(slow, fast), Verdict::kSlower);
}

TEST(Race, FirstFailureEndsIt) {
  int left = 5;
  const Contender failing = {.name = "b", .run = [&]() -> Result<void> {
                               if (--left > 0) return {};
                               return fail(ExitCode::kUnsupported, "test/failure", "here", "this");
                             }};
  const auto lanes = race({{.name = "a", .run = [] { return Result<void>(); }}, failing}, short_race(100));
  ASSERT_FALSE(lanes);
  EXPECT_EQ(lanes.error().code, "test/failure");
}

TEST(Race, ShortRunsAreRepeatedInsideASample) {
  int runs = 0;
  RaceOptions options = short_race(1);
  options.min_sample_ns = 1'000'000'000'000;
  const auto lanes = race({{.name = "a",
                            .run =
                                [&] {
                                  ++runs;
                                  return Result<void>();
                                }}},
                          options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ(runs, 3 + 1 + 1000);
}

TEST(Race, StopLeavesOneRound) {
  std::stop_source source;
  source.request_stop();
  RaceOptions options = short_race(50);
  options.stop = source.get_token();
  const auto lanes = race({{.name = "a", .run = [] { return Result<void>(); }}}, options);
  ASSERT_TRUE(lanes);
  EXPECT_EQ(lanes->front().samples_ns.size(), 1U);
}

TEST(Race, NobodyIsNoRace) {
  const auto lanes = race({}, short_race(3));
  ASSERT_TRUE(lanes);
  EXPECT_TRUE(lanes->empty());
}

}  // namespace
}  // namespace collage
