#include "tune/price/lazy_pricing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "tests/support/long_run.h"
#include "tests/tune/price/regular_times.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/pricing.h"

namespace collage::test {
namespace {

/// Three models on one machine, of which two were tuned.
struct Relatives {
  RegularTimes first, second, third;

  explicit Relatives(std::uint64_t seed)
      : first(100 * seed, 32), second(100 * seed + 1, 32, &first), third(100 * seed + 2, 32, &second) {}
  /// What tunes of the first two have shown.
  [[nodiscard]] EffectTable known() const {
    std::vector<EffectTable> tables(2);
    Asked asked;
    price(first, asked, {}, &tables[0]);
    price(second, asked, {}, &tables[1]);
    return pooled_effects(tables, {});
  }
};

TEST(LazyPricing, FindsNearlyTheCoverOfMeasuringEverythingWithFewMeasurements) {
  double worst = 0;
  double excess = 0;
  std::size_t measured = 0;
  std::size_t distinct = 0;
  const auto seeds = by_length<std::uint64_t>(8, 20);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RegularTimes times(seed, 48);
    Asked asked;
    const std::int64_t lazy = times.cost_of_best(price(times, asked));
    const std::int64_t eager = times.eager_ns();
    ASSERT_GE(lazy, eager);
    const double more = static_cast<double>(lazy - eager) / static_cast<double>(eager);
    worst = std::max(worst, more);
    excess += more / static_cast<double>(seeds);
    measured += asked.candidates.size();
    distinct += times.distinct();
  }
  EXPECT_LT(worst, 0.05);
  EXPECT_LT(excess, by_length(0.01, 0.005));
  EXPECT_LT(measured, distinct * 6 / 10);
}

TEST(LazyPricing, FindsBetterCoversInLittleTimeWhereOtherModelsWereTuned) {
  double without_others = 0;
  double after_others = 0;
  const auto seeds = by_length<std::uint64_t>(6, 20);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Relatives relatives(seed);
    const RegularTimes& third = relatives.third;
    const auto eager = static_cast<double>(third.eager_ns());
    const auto excess = [&](const EffectTable& known) {
      Asked asked{.end = 48};
      return static_cast<double>(third.cost_of_best(price(third, asked, known))) / eager - 1;
    };
    without_others += excess({}) / static_cast<double>(seeds);
    after_others += excess(relatives.known()) / static_cast<double>(seeds);
  }
  EXPECT_LT(after_others, without_others / 2) << "more than the best cover takes";
}

TEST(LazyPricing, AsksForLessWhereOtherModelsWereTuned) {
  double without_others = 0;
  double after_others = 0;
  double excess = 0;
  const auto seeds = by_length<std::uint64_t>(6, 20);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Relatives relatives(seed);
    const RegularTimes& third = relatives.third;
    Asked without;
    const auto without_ns = static_cast<double>(third.cost_of_best(price(third, without)));
    Asked after;
    const auto after_ns = static_cast<double>(third.cost_of_best(price(third, after, relatives.known())));
    without_others += static_cast<double>(without.candidates.size());
    after_others += static_cast<double>(after.candidates.size());
    excess += (after_ns / without_ns - 1) / static_cast<double>(seeds);
  }
  EXPECT_LT(after_others, 0.85 * without_others);
  EXPECT_LT(excess, 0.01);
}

TEST(LazyPricing, AsksFirstForTheCoverThatIsExpectedToBeBest) {
  const RegularTimes times(11, 16);
  CostBounds bounds(times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, {});
  LazyCosts costs(times.graph, times.pool, bounds);
  costs.fit();
  CoverRequest expected = times.request();
  expected.costs = costs.forecast(Forecast::kExpected, ~std::size_t{0});
  const std::vector<std::size_t> first =
      costs.open_in({{"cover", *best_cover(expected, expected.backends)}}, Effort::kSample);
  Asked asked;
  price(times, asked);
  ASSERT_GE(asked.candidates.size(), first.size());
  EXPECT_EQ(first, std::vector(asked.candidates.begin(), asked.candidates.begin() + std::ssize(first)));
}

TEST(LazyPricing, AsksForLessTheMoreACandidateHasToSave) {
  const RegularTimes times(11, 32);
  Asked patient{.least_saving = 1e-4};
  Asked hasty{.least_saving = 1e-2};
  price(times, patient);
  price(times, hasty);
  EXPECT_LT(hasty.candidates.size(), patient.candidates.size() * 9 / 10);
}

TEST(LazyPricing, SamplesOneCoverWhereNothingCouldSaveEnough) {
  const RegularTimes times(11, 32);
  Asked asked{.least_saving = 1};
  price(times, asked);
  EXPECT_LE(asked.candidates.size(), times.graph.nodes.size() / 2) << "a convolution and its activation are one step";
}

TEST(LazyPricing, MeasuresEveryComputationOnce) {
  const RegularTimes times(3, 16);
  Asked asked;
  price(times, asked);
  const std::set<std::size_t> once(asked.candidates.begin(), asked.candidates.end());
  EXPECT_EQ(once.size(), asked.candidates.size());
  EXPECT_LE(asked.candidates.size(), times.distinct());
  const std::set<std::size_t> measured(asked.measured.begin(), asked.measured.end());
  EXPECT_EQ(measured.size(), asked.measured.size());
}

TEST(LazyPricing, MeasuresOnlyWhatIsFastInAShortSample) {
  const RegularTimes times(3, 32);
  Asked asked;
  const std::vector<Cost> costs = price(times, asked);
  EXPECT_LT(asked.measured.size(), asked.candidates.size() * 6 / 10);
  CoverRequest request = times.request();
  request.costs = costs;
  const auto best = best_cover(request, request.backends);
  ASSERT_TRUE(best);
  for (const CoverStep& step : best->cover.steps) EXPECT_FALSE(is_sampled(step.cost)) << "the best cover is measured";
}

TEST(LazyPricing, SamplesMoreWhereMeasuringTheCoverLeftTime) {
  const RegularTimes times(3, 32);
  Asked once{.sampling_end = 48};
  Asked resumed{.sampling_end = 48, .resumed = 48};
  const std::int64_t once_ns = times.cost_of_best(price(times, once));
  const std::int64_t resumed_ns = times.cost_of_best(price(times, resumed));
  EXPECT_GE(once.candidates.size(), 48U);
  EXPECT_LT(once.candidates.size(), 64U) << "a chunk is sampled to its end";
  EXPECT_GT(resumed.candidates.size(), once.candidates.size());
  EXPECT_GT(resumed.measured.size(), once.measured.size()) << "what came in is measured too";
  EXPECT_LT(resumed_ns, once_ns);
}

TEST(LazyPricing, TellsWhatTheSecondHalfGained) {
  const RegularTimes times(3, 32);
  Asked asked;
  LazyMeasuring halves = measuring(times, asked);
  halves.is_half_over = [&asked] { return asked.candidates.size() >= 48; };
  std::vector<std::pair<std::int64_t, std::int64_t>> told;
  halves.gained = [&](std::int64_t halfway_ns, std::int64_t best_ns) { told.emplace_back(halfway_ns, best_ns); };
  CostBounds bounds(times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, {});
  const auto costs = price_lazily(times.request(), bounds, halves);
  ASSERT_TRUE(costs) << to_string(costs.error());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].second, times.cost_of_best(*costs));
  EXPECT_GT(told[0].first, told[0].second);
}

/// Whether a gain is told where an engine that is slow has times from the start, and so many samples may be taken.
bool tells_gain(std::size_t samples) {
  const RegularTimes times(5, 64);
  Asked asked{.sampling_end = samples};
  LazyMeasuring halves = measuring(times, asked);
  halves.is_half_over = [&asked] { return asked.candidates.size() >= 16; };
  bool told = false;
  halves.gained = [&told](std::int64_t, std::int64_t) { told = true; };
  CostBounds bounds(times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, {});
  CoverRequest request = times.request();
  for (const Candidate& candidate : times.pool.candidates)
    request.costs.push_back(candidate.backend == "engine" ? Cost(Estimated{.ns = 1'000'000, .is_sampled = true})
                                                          : Cost(Unknown{}));
  EXPECT_TRUE(price_lazily(request, bounds, halves));
  return told;
}

TEST(LazyPricing, TellsNoGainWhereTheFirstCoverTookAllOfTheTime) {
  EXPECT_FALSE(tells_gain(16));
  EXPECT_TRUE(tells_gain(1000));
}

/// Times of one backend are known, and forecasts are made from them.
struct EngineKnown {
  RegularTimes times{3, 16};
  CostBounds bounds{times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, {}};
  LazyCosts costs{times.graph, times.pool, bounds};

  EngineKnown() {
    for (std::size_t c = 0; c < times.pool.candidates.size(); ++c)
      if (times.pool.candidates[c].backend == "engine") costs.learn(c, times.cost(c));
    costs.fit();
  }
  [[nodiscard]] Cover best() const {
    CoverRequest request = times.request();
    request.costs = costs.known();
    return best_cover(request, request.backends)->cover;
  }
};

TEST(LazyPricing, AsksForHopesOnOtherNodesTogether) {
  const RegularTimes times(5, 64);
  Asked asked = {.candidates = {}, .least_saving = 0};
  LazyMeasuring counted = measuring(times, asked);
  std::size_t asks = 0;
  counted.candidates = [&, usual = counted.candidates](const std::vector<std::size_t>& wanted, Effort effort) {
    asks += effort == Effort::kSample ? 1 : 0;
    return usual(wanted, effort);
  };
  CostBounds bounds(times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, {});
  ASSERT_TRUE(price_lazily(times.request(), bounds, counted));
  EXPECT_LT(asks, asked.candidates.size() / 4);
}

TEST(LazyCosts, NamesFirstWhatShouldSaveMostInPlaceOfTheCover) {
  EngineKnown known;
  auto& [times, bounds, costs] = known;
  const Cover cover = known.best();
  const std::vector<std::size_t> named = costs.open_by_saving(cover);
  EXPECT_EQ(std::set(named.begin(), named.end()).size(), costs.open().size());
  double saved_before = std::numeric_limits<double>::max();
  for (const std::size_t c : named) {
    const NodeSet& nodes = times.pool.regions[times.pool.candidates[c].region].nodes;
    std::int64_t now_ns = 0;
    for (const CoverStep& step : cover.steps)
      if (std::get<CoverKernel>(step.work).region.nodes.intersects(nodes))
        now_ns += nanoseconds_of(step.cost).value_or(0);
    const double saved_ns = bounds.expected_saving(c, static_cast<double>(now_ns));
    EXPECT_LE(saved_ns, saved_before);
    saved_before = saved_ns;
  }
}

TEST(LazyCosts, ExpectASavingOfWhatTheHopefulCoverUses) {
  EngineKnown known;
  auto& [times, bounds, costs] = known;
  const Cover now = known.best();
  const std::size_t candidate = costs.open_by_saving(now).front();
  CoverRequest hopeful = times.request();
  hopeful.costs = costs.known();
  costs.put_forecasts(std::vector{candidate}, Forecast::kHopeful, hopeful.costs);
  const Cover hoped = best_cover(hopeful, hopeful.backends)->cover;
  const std::int64_t gain_ns = now.cost_ns - hoped.cost_ns;
  ASSERT_GT(gain_ns, 0);
  const double saving_ns = costs.expected_saving(candidate, hoped, gain_ns);
  EXPECT_GT(saving_ns, 0);
  EXPECT_LT(saving_ns, static_cast<double>(gain_ns)) << "a hope is not what is expected";
  EXPECT_EQ(costs.expected_saving(candidate, now, gain_ns), 0) << "this cover does not use it";
}

TEST(LazyCosts, NamesLongRegionsOnlyWhereTheyMayWin) {
  EngineKnown known;
  auto& [times, bounds, costs] = known;
  Cover cover = known.best();
  const std::int64_t least_ns = cover.cost_ns / 20;
  const std::vector<std::size_t> named = costs.open_long(cover, least_ns, 1);
  ASSERT_FALSE(named.empty());
  for (const std::size_t c : named) {
    EXPECT_TRUE(costs.is_unseen(c));
    EXPECT_GT(times.pool.regions[times.pool.candidates[c].region].nodes.count(), 1U);
    EXPECT_GE(bounds.forecast(c, Forecast::kExpected), least_ns);
  }
  EXPECT_TRUE(costs.open_long(cover, least_ns, static_cast<double>(cover.cost_ns)).empty())
      << "none should save so much";
  EXPECT_TRUE(costs.open_long(cover, cover.cost_ns + 1, 1).empty()) << "none should take so long";
  for (CoverStep& step : cover.steps) step.cost = Measured{.median_ns = 1, .low_ns = 1, .high_ns = 1, .samples = 1};
  EXPECT_TRUE(costs.open_long(cover, least_ns, 1).empty()) << "the cover is faster than any of them may be";
}

TEST(LazyCosts, NameEachAlgorithmThatNobodyTimedOnceWhereStepsTakeLong) {
  EngineKnown known;
  auto& [times, bounds, costs] = known;
  const Cover cover = known.best();
  const std::vector<std::size_t> untried = costs.untried_for_long_steps(cover, 0);
  ASSERT_FALSE(untried.empty());
  std::set<std::uint32_t> algorithms;
  for (const std::size_t c : untried) {
    EXPECT_TRUE(costs.is_unseen(c));
    ASSERT_TRUE(bounds.untried_algorithm(c));
    algorithms.insert(*bounds.untried_algorithm(c));
  }
  EXPECT_EQ(algorithms.size(), untried.size());
  EXPECT_TRUE(costs.untried_for_long_steps(cover, static_cast<double>(cover.cost_ns + 1)).empty());
  const auto longest = std::ranges::max_element(
      cover.steps, {}, [](const CoverStep& step) { return nanoseconds_of(step.cost).value_or(0); });
  EXPECT_FALSE(
      costs.untried_for_long_steps(cover, 2 * static_cast<double>(nanoseconds_of(longest->cost).value_or(0))).empty())
      << "steps of one kind count together";
}

TEST(LazyCosts, NameUntriedAlgorithmsInPlaceOfStepsThatAreForecast) {
  EngineKnown known;
  auto& [times, bounds, costs] = known;
  CoverRequest forecast = times.request();
  forecast.costs = costs.forecast(Forecast::kExpected, std::numeric_limits<std::size_t>::max());
  for (std::size_t c = 0; c < forecast.costs.size(); ++c)
    if (times.pool.candidates[c].backend != "kernels") forecast.costs[c] = Unknown{};
  const auto best = best_cover(forecast, forecast.backends);
  ASSERT_TRUE(best);
  EXPECT_FALSE(costs.untried_for_long_steps(best->cover, 0).empty());
}

TEST(LazyPricing, AsksTheSameQuestionsEveryTime) {
  Asked first;
  Asked second;
  price(RegularTimes(5, 16), first);
  price(RegularTimes(5, 16), second);
  EXPECT_EQ(first.candidates, second.candidates);
}

TEST(LazyPricing, LeavesACoverWhenTimeEndsAtOnce) {
  const RegularTimes times(7, 8);
  Asked asked{.candidates = {}, .limit = 0};
  const std::vector<Cost> costs = price(times, asked);
  EXPECT_GE(times.cost_of_best(costs), times.eager_ns());
  for (const std::size_t c : asked.candidates)
    EXPECT_EQ(times.pool.regions[times.pool.candidates[c].region].nodes.count(), 1U);
}

// What is measured is compiled: a cover of it takes no more time.
TEST(LazyPricing, ForecastsNothingWhenACoverIsMeasured) {
  const RegularTimes times(7, 8);
  Asked asked{.candidates = {}, .limit = 0, .end = 5};
  const std::vector<Cost> costs = price(times, asked);
  EXPECT_TRUE(std::ranges::none_of(
      costs, [](const Cost& cost) { return std::holds_alternative<Estimated>(cost) && !is_sampled(cost); }));
  EXPECT_GT(times.cost_of_best(costs), 0);
}

TEST(LazyPricing, ForecastsSingleNodesWhenNoTimeIsLeftForACover) {
  const RegularTimes times(7, 8);
  Asked asked{.candidates = {}, .limit = 0, .end = 0};
  const std::vector<Cost> costs = price(times, asked);
  EXPECT_TRUE(asked.candidates.empty());
  for (std::size_t c = 0; c < costs.size(); ++c)
    EXPECT_EQ(std::holds_alternative<Unknown>(costs[c]),
              times.pool.regions[times.pool.candidates[c].region].nodes.count() > 1)
        << c;
}

TEST(LazyPricing, WhereNobodyTakesANodeAloneTheSmallestCandidateCountsAsSmall) {
  const RegularTimes times(7, 2);
  CandidatePool pool = times.pool;
  const auto nodes_of = [&](const Candidate& one) -> const NodeSet& { return pool.regions[one.region].nodes; };
  std::erase_if(pool.candidates,
                [&](const Candidate& one) { return nodes_of(one).count() == 1 && nodes_of(one).next() < 2; });
  CostBounds bounds(times.graph, pool, Accuracy::kStandard, kPeak, 1, {}, {});
  const LazyCosts costs(times.graph, pool, bounds);
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const NodeSet& nodes = nodes_of(pool.candidates[c]);
    const bool is_smallest = nodes.count() == 1 || (nodes.count() == 2 && nodes.next() < 2);
    EXPECT_EQ(costs.is_small_enough(c, 1), is_smallest) << c;
    EXPECT_FALSE(costs.is_small_enough(c, 0));
  }
}

}  // namespace
}  // namespace collage::test
