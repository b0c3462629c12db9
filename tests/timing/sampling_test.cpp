#include "timing/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "timing/noise.h"

namespace collage {
namespace {

/// Contenders on a clock that moves only while they run.
struct FakeMachine {
  std::vector<std::int64_t> call_ns;
  std::int64_t now = 0;
  std::vector<std::int64_t> calls = std::vector<std::int64_t>(call_ns.size(), 0);
  std::vector<std::size_t> order;  ///< of batches
  std::vector<std::int64_t> first_call_extra = std::vector<std::int64_t>(call_ns.size(), 0);
  std::size_t fails = 99;  ///< contender whose calls fail from the third on

  SamplingSubject subject() {
    return {.run = [this](std::size_t i) -> Result<void> {
              if (i == fails && calls[i] >= 2) return fail(ExitCode::kBug, "test/fails", "run", "a failure");
              now += call_ns[i] + (calls[i] == 0 ? first_call_extra[i] : 0);
              ++calls[i];
              return {};
            },
            .now_ns = [this] { return now; },
            .before = [this](std::size_t i) { order.push_back(i); }};
  }
};

std::int64_t median_of(const Result<Timing>& result) {
  EXPECT_TRUE(result);
  return result ? result->summary.median_ns : -1;
}

TEST(Sampling, FindsTheTimeOfEachCall) {
  FakeMachine machine{.call_ns = {500, 700, 40'000}};
  const auto results = sample_all(3, machine.subject(), SamplingOptions{});
  EXPECT_EQ(median_of(results[0]), 500);
  EXPECT_EQ(median_of(results[1]), 700);
  EXPECT_EQ(median_of(results[2]), 40'000);
  EXPECT_EQ(results[0]->summary.low_ns, 500);
  EXPECT_EQ(results[0]->summary.high_ns, 500);
}

TEST(Sampling, SlowFirstCallIsNotASample) {
  FakeMachine machine{.call_ns = {1'000'000}, .first_call_extra = {500'000'000}};
  const auto results = sample_all(1, machine.subject(), quick_sampling());
  EXPECT_EQ(results[0]->summary.median_ns, 1'000'000);
  EXPECT_EQ(results[0]->summary.high_ns, 1'000'000);
}

TEST(Sampling, ContendersWhoseFirstSamplesWereAllDisturbedAreStillSampled) {
  FakeMachine machine{.call_ns = {600'000, 900'000}};
  SamplingSubject subject = machine.subject();
  NoiseWatch noise;
  subject.noise = &noise;
  subject.slowness = [looks = 0]() mutable { return ++looks % 2 == 0 ? 2.0 : 1.0; };
  const auto results = sample_all(2, subject, quick_sampling());
  EXPECT_EQ(median_of(results[0]), 400'000);
  EXPECT_EQ(median_of(results[1]), 600'000);
}

TEST(Sampling, SamplesOnASharedCoreDoNotCountWhereEnoughOthersDo) {
  FakeMachine machine{.call_ns = {500'000}};
  SamplingSubject subject = machine.subject();
  // Every other time of 100 ms another thread uses the core, and calls take longer.
  const auto is_shared_at = [](std::int64_t now) { return now / 100'000'000 % 2 == 1; };
  subject.run = [&](std::size_t) -> Result<void> {
    machine.now += is_shared_at(machine.now) ? 600'000 : 500'000;
    return {};
  };
  subject.before = [&](std::size_t) { machine.now += 30'000'000; };
  SmtWatch smt(
      [&] {
        machine.now += 1'000'000;
        return is_shared_at(machine.now) ? 1.8 : 1.0;
      },
      [&] { return machine.now; });
  subject.smt = &smt;
  const auto results = sample_all(1, subject, quick_sampling());
  EXPECT_EQ(results[0]->summary.low_ns, 500'000);
  EXPECT_EQ(results[0]->summary.high_ns, 500'000);
}

TEST(Sampling, SamplesOnACoreThatIsAlwaysSharedCount) {
  FakeMachine machine{.call_ns = {500'000}};
  SamplingSubject subject = machine.subject();
  int looks = 0;
  SmtWatch smt([&] { return ++looks == 1 ? 1.0 : 1.8; }, [&] { return machine.now += 1'000'000; });
  subject.smt = &smt;
  const auto results = sample_all(1, subject, quick_sampling());
  EXPECT_EQ(median_of(results[0]), 500'000);
  EXPECT_EQ(results[0]->summary.samples, 9);
}

TEST(Sampling, TimesAreThoseOfAQuietMoment) {
  FakeMachine machine{.call_ns = {600'000}};
  SamplingSubject subject = machine.subject();
  subject.slowness = [] { return 1.5; };
  const auto results = sample_all(1, subject, quick_sampling());
  EXPECT_EQ(results[0]->summary.median_ns, 400'000);
}

TEST(Sampling, PreparesBeforeEverySampleAndTimesTheCallAlone) {
  FakeMachine machine{.call_ns = {2'000, 3'000}};
  std::vector<std::int64_t> prepared(2, 0);
  SamplingSubject subject = machine.subject();
  subject.prepare = [&](std::size_t i) {
    ++prepared[i];
    machine.now += 5'000'000;
  };
  const auto results = sample_all(2, subject, quick_sampling());
  EXPECT_EQ(median_of(results[0]), 2'000);
  EXPECT_EQ(median_of(results[1]), 3'000);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(prepared[i], 5) << "few samples that agree are enough where preparing takes longer";
    EXPECT_EQ(machine.calls[i], prepared[i] + 2) << "the calls that warm up are not prepared";
  }
}

TEST(Sampling, SamplesThatDisagreeAreTakenInFullHoweverLongPreparingTakes) {
  FakeMachine machine{.call_ns = {100'000}};
  SamplingSubject subject = machine.subject();
  int samples = 0;
  subject.prepare = [&](std::size_t) {
    machine.now += 5'000'000;
    machine.call_ns[0] = 100'000 + 10'000 * (++samples % 3);
  };
  const auto results = sample_all(1, subject, quick_sampling());
  EXPECT_EQ(results[0]->summary.samples, 9);
  EXPECT_EQ(median_of(results[0]), 110'000);
}

TEST(Sampling, ShortCallsAreMadeOnceUntimedBeforeEachBatch) {
  FakeMachine machine{.call_ns = {1'000'000, 10'000'000}};
  // The first call after the other contender's is slow, as if that had used up the caches.
  std::size_t last = 9;
  SamplingSubject subject = machine.subject();
  subject.run = [&, run = subject.run](std::size_t i) {
    if (i != last) machine.now += 300'000;
    last = i;
    return run(i);
  };
  const auto results = sample_all(2, subject, {.drop_ratio = 100});
  EXPECT_EQ(results[0]->summary.median_ns, 1'000'000);
  EXPECT_EQ(results[0]->summary.high_ns, 1'000'000);
  EXPECT_EQ(results[1]->summary.median_ns, 10'300'000);
}

TEST(Sampling, TakesEnoughSamplesAndEnoughTime) {
  FakeMachine machine{.call_ns = {20'000}};
  const auto results = sample_all(1, machine.subject(), SamplingOptions{});
  EXPECT_GE(results[0]->summary.samples, 9);
  EXPECT_GE(machine.now, 30'000'000);
  EXPECT_LT(machine.now, 100'000'000);
}

TEST(Sampling, QuickIsQuick) {
  FakeMachine machine{.call_ns = {20'000}};
  const auto results = sample_all(1, machine.subject(), quick_sampling());
  EXPECT_GE(results[0]->summary.samples, 9);
  EXPECT_LT(machine.now, 8'000'000);
}

TEST(Sampling, LongRunsGetFewSamples) {
  FakeMachine machine{.call_ns = {100'000'000}};
  const auto results = sample_all(1, machine.subject(), SamplingOptions{});
  EXPECT_GE(results[0]->summary.samples, 5);
  EXPECT_LE(results[0]->summary.samples, 6);
  EXPECT_LE(machine.calls[0], 8);
}

TEST(Sampling, ClearLosersAreDroppedButKeepWhatTheyHave) {
  FakeMachine machine{.call_ns = {1'000'000, 1'400'000, 2'000'000}};
  const auto results = sample_all(3, machine.subject(), SamplingOptions{});
  EXPECT_GE(results[0]->summary.samples, 9);
  EXPECT_GE(results[1]->summary.samples, 9);
  EXPECT_EQ(results[2]->summary.samples, 3);
  EXPECT_EQ(results[2]->summary.median_ns, 2'000'000);
}

TEST(Sampling, RoundsAreInterleavedInRandomOrder) {
  FakeMachine machine{.call_ns = {1'000'000, 1'000'000, 1'000'000}};
  (void)sample_all(3, machine.subject(), SamplingOptions{});
  // After the warm-up every three batches hold each contender once.
  std::vector<std::vector<std::size_t>> rounds;
  for (std::size_t i = machine.order.size() - 27; i < machine.order.size(); i += 3)
    rounds.emplace_back(machine.order.begin() + static_cast<std::ptrdiff_t>(i),
                        machine.order.begin() + static_cast<std::ptrdiff_t>(i) + 3);
  std::size_t same_as_first = 0;
  for (const auto& round : rounds) {
    EXPECT_TRUE(std::is_permutation(round.begin(), round.end(), std::vector<std::size_t>{0, 1, 2}.begin()));
    same_as_first += round == rounds[0] ? 1 : 0;
  }
  EXPECT_LT(same_as_first, rounds.size());
}

TEST(Sampling, SameSeedSameOrder) {
  const auto order = [](std::uint64_t seed) {
    FakeMachine machine{.call_ns = {1'000'000, 1'000'000, 1'000'000}};
    SamplingOptions options = SamplingOptions{};
    options.seed = seed;
    (void)sample_all(3, machine.subject(), options);
    return machine.order;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(Sampling, FailureCostsOnlyItsContender) {
  FakeMachine machine{.call_ns = {1'000'000, 1'000'000}, .fails = 0};
  const auto results = sample_all(2, machine.subject(), SamplingOptions{});
  EXPECT_EQ(results[0].error().code, "test/fails");
  EXPECT_EQ(results[1]->summary.median_ns, 1'000'000);
}

TEST(Sampling, KeepsTheSamplesThemselves) {
  FakeMachine machine{.call_ns = {1'000'000}};
  const auto results = sample_all(1, machine.subject(), SamplingOptions{});
  ASSERT_TRUE(results[0]);
  EXPECT_EQ(results[0]->samples_ns.size(), static_cast<std::size_t>(results[0]->summary.samples));
  EXPECT_EQ(summarise(results[0]->samples_ns), results[0]->summary);
}

TEST(Sampling, NothingToTimeIsFine) {
  FakeMachine machine;
  EXPECT_TRUE(sample_all(0, machine.subject(), SamplingOptions{}).empty());
}

TEST(Sampling, SummaryIsMedianAndMiddleHalf) {
  EXPECT_EQ(summarise({5}), (Measured{.median_ns = 5, .low_ns = 5, .high_ns = 5, .samples = 1}));
  EXPECT_EQ(summarise({9, 1, 5, 3, 7}), (Measured{.median_ns = 5, .low_ns = 3, .high_ns = 7, .samples = 5}));
  EXPECT_EQ(summarise({1, 1, 1, 1, 1000}), (Measured{.median_ns = 1, .low_ns = 1, .high_ns = 1, .samples = 5}));
}

}  // namespace
}  // namespace collage
