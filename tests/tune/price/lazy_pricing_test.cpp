#include "tune/price/lazy_pricing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "tests/support/dice.h"
#include "tests/support/graph_builder.h"
#include "tests/support/long_run.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/pricing.h"

namespace collage {
namespace {

using testing_support::GraphBuilder;

constexpr PeakRates kPeak = {.flops_per_ns = 50, .bytes_per_ns = 50};
const std::vector<std::string> kBackends = {"kernels", "engine", "graphs"};

/// A chain of convolutions, each with an activation, and candidates with times as regular as those of libraries: of an
/// operation, a way, the pair, with a little that nothing tells, and a slow path here and there.
class RegularTimes {
 public:
  /// `relative`: another model on the same machine, whose ways and operations are as fast here.
  RegularTimes(std::uint64_t seed, std::size_t convolutions, const RegularTimes* relative = nullptr) : dice_(seed) {
    if (relative != nullptr) factors_ = relative->factors_;
    std::vector<ValueId> kernels;
    GraphBuilder builder({1, 32, 16, 16});
    ValueId last = builder.input("x");
    for (std::size_t n = 0; n < convolutions; ++n) {
      const std::int64_t extent = dice_.one_in(2) ? 1 : 3;
      const ValueId filter = builder.weight("w" + std::to_string(n), {32, 32, extent, extent});
      const std::int64_t pad = extent / 2;
      last = builder.add("Conv", {last, filter}, {1, 32, 16, 16},
                         {{"kernel_shape", std::vector<std::int64_t>{extent, extent}},
                          {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
                          // Only so that operations differ.
                          {"dilations", std::vector<std::int64_t>{1 + static_cast<std::int64_t>(dice_.below(8)), 1}}});
      last = builder.add("Relu", {last});
    }
    graph = builder.take({last});
    uses_ = uses_of(graph);
    for (std::size_t n = 0; n < 2 * convolutions; n += 2) {
      for (const char* way : {"direct", "blocked", "gemm", "wino"}) {
        const std::string format = std::string(way) == "blocked" ? "kernels:b16" : "plain";
        add("kernels", way, n, n + 1, format);
        add("kernels", way, n, n + 2, format);
      }
      for (const char* format : {"plain", "kernels:b16"}) add("kernels", "light", n + 1, n + 2, format);
      for (const std::string& backend : {kBackends[1], kBackends[2]}) {
        add(backend, "default", n, n + 1, "plain");
        add(backend, "default", n + 1, n + 2, "plain");
        for (std::size_t length = 2; length <= 6; length += 2)
          if (n + length <= 2 * convolutions) add(backend, "default", n, n + length, "plain");
      }
    }
  }

  [[nodiscard]] CoverRequest request() const {
    return {.graph = &graph,
            .pool = &pool,
            .costs = {},
            .backends = kBackends,
            .filler = "engine",
            .conversions =
                [](ValueId, const Place&, const Place&) {
                  return std::optional<BoundaryChoice>(
                      {"host", Measured{.median_ns = 1500, .low_ns = 1500, .high_ns = 1500, .samples = 1}});
                },
            .search = {}};
  }

  [[nodiscard]] Cost cost(std::size_t candidate) const {
    const std::int64_t ns = times_.at(candidate);
    return Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 9};
  }
  /// A few runs, of which the fastest is a little faster than the median of many.
  [[nodiscard]] Cost sample(std::size_t candidate) const {
    return Estimated{.ns = static_cast<std::int64_t>(0.97 * static_cast<double>(times_.at(candidate))),
                     .is_sampled = true};
  }
  [[nodiscard]] std::int64_t cost_of_best(std::vector<Cost> costs) const {
    CoverRequest all = request();
    all.costs = std::move(costs);
    return best_cover(all, all.backends)->cover.cost_ns;
  }
  [[nodiscard]] std::int64_t eager_ns() const {
    std::vector<Cost> costs;
    for (std::size_t c = 0; c < times_.size(); ++c) costs.push_back(cost(c));
    return cost_of_best(std::move(costs));
  }
  [[nodiscard]] std::size_t distinct() const { return seen_.size(); }

  Graph graph;
  CandidatePool pool;

 private:
  void add(const std::string& backend, const std::string& way, std::size_t begin, std::size_t end,
           const std::string& format) {
    NodeSet nodes(graph.nodes.size());
    double ns = 0;
    for (std::size_t n = begin; n < end; ++n) {
      nodes.insert(n);
      NodeSet one(graph.nodes.size());
      one.insert(n);
      const Region alone = make_region(graph, uses_, one);
      const std::string operation = structure_key(graph, alone);
      const double work = n % 2 == 1 ? 400.0 : 1000 + 5 * roofline_ns(graph, alone, Accuracy::kStrict, kPeak, 1);
      // What follows a convolution in its own kernel is nearly free.
      const double part = n % 2 == 1 && end - begin > 1 ? 0.1 : 1;
      ns += part * work * factor(operation, 0.2) * factor(backend + way, 0.4) * factor(backend + operation, 0.1);
    }
    const Region region = make_region(graph, uses_, nodes);
    const std::string name = structure_key(graph, region) + backend + way + format;
    ns *= factor(name, 0.04);
    if (seen_.emplace(name, seen_.size()).first->second % 23 == 22) ns *= 10;
    times_.push_back(static_cast<std::int64_t>(ns));
    pool.regions.push_back(region);
    pool.candidates.push_back({.region = static_cast<std::uint32_t>(pool.regions.size() - 1),
                               .backend = backend,
                               .variant = {.name = way, .input_formats = {{format}}, .output_formats = {{format}}}});
  }
  /// One and the same for a name, around 1.
  double factor(const std::string& name, double spread) {
    const auto [found, added] = factors_.emplace(name, 0);
    if (added) {
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(dice_.below(1000)) / 1000;
      found->second = std::exp(spread * sum);
    }
    return found->second;
  }

  Dice dice_;
  Uses uses_;
  std::map<std::string, double> factors_;
  std::map<std::string, std::size_t> seen_;
  std::vector<std::int64_t> times_;
};

struct Asked {
  std::vector<std::size_t> candidates;  ///< sampled, or measured without
  std::vector<std::size_t> measured = {};
  std::size_t limit = ~std::size_t{0};         ///< then there is time for single nodes only
  std::size_t end = ~std::size_t{0};           ///< then for nothing
  std::size_t sampling_end = ~std::size_t{0};  ///< then nothing new is sampled,
  std::size_t resumed = 0;                     ///< until so many more may be, once
  double least_saving = MeasureLimits{}.least_saving;
};

LazyMeasuring measuring(const RegularTimes& times, Asked& asked) {
  return {.candidates = [&](const std::vector<std::size_t>& wanted, Effort effort) -> Result<std::vector<Cost>> {
            std::vector<Cost> costs;
            for (const std::size_t c : wanted)
              costs.push_back(effort == Effort::kSample ? times.sample(c) : times.cost(c));
            std::vector<std::size_t>& list = effort == Effort::kSample ? asked.candidates : asked.measured;
            list.insert(list.end(), wanted.begin(), wanted.end());
            return costs;
          },
          .conversions = [](const std::vector<NamedCover>&, Effort, std::int64_t) { return Result<std::size_t>(0U); },
          .least_saving = asked.least_saving,
          .is_sampling_over = [&] { return asked.candidates.size() >= asked.sampling_end; },
          .is_sampling_resumed =
              [&] {
                asked.sampling_end += asked.resumed;
                return std::exchange(asked.resumed, 0) > 0;
              },
          .most_nodes = [&] { return asked.candidates.size() >= asked.limit ? 1 : ~std::size_t{0}; },
          .is_stopped = [] { return false; },
          .is_over = [&] { return asked.candidates.size() >= asked.end; },
          .progress = [](std::size_t) {}};
}

std::vector<Cost> price(const RegularTimes& times, Asked& asked, const EffectTable& known = {},
                        EffectTable* learnt = nullptr) {
  CostBounds bounds(times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, known);
  auto costs = price_lazily(times.request(), bounds, measuring(times, asked));
  EXPECT_TRUE(costs) << to_string(costs.error());
  if (learnt != nullptr) *learnt = bounds.learnt();
  return *costs;
}

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
  const auto seeds = test::by_length<std::uint64_t>(8, 20);
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
  EXPECT_LT(excess, test::by_length(0.01, 0.005));
  EXPECT_LT(measured, distinct * 6 / 10);
}

TEST(LazyPricing, FindsBetterCoversInLittleTimeWhereOtherModelsWereTuned) {
  double without_others = 0;
  double after_others = 0;
  const auto seeds = test::by_length<std::uint64_t>(6, 20);
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
  const auto seeds = test::by_length<std::uint64_t>(6, 20);
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
  costs.lower_to_hope(std::vector{candidate}, hopeful.costs);
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
}  // namespace collage
