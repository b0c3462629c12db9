// Lazy pricing where there is time for few kernels that are made slowly.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <span>

#include "tests/tune/price/regular_times.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/making_pace.h"

namespace collage::test {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

/// Of three backends `graphs` alone makes kernels at once; those of the others take a second each.
struct ShortTime {
  RegularTimes times{5, 64};
  Asked asked;
  LazyMeasuring of_seconds = measuring(times, asked);
  CostBounds bounds{times.graph, times.pool, Accuracy::kStandard, kPeak, 1, {}, {}};

  explicit ShortTime(double seconds) {
    of_seconds.is_made_slowly = [this](std::size_t c) { return is_slow(c); };
    of_seconds.sampling_left_s = [this, seconds] { return seconds - static_cast<double>(slow_count()); };
    of_seconds.is_sampling_over = [this, seconds] { return static_cast<double>(slow_count()) >= seconds; };
  }
  [[nodiscard]] bool is_slow(std::size_t candidate) const {
    return times.pool.candidates[candidate].backend != "graphs";
  }
  [[nodiscard]] std::ptrdiff_t slow_count() const {
    return std::ranges::count_if(asked.candidates, [this](std::size_t c) { return is_slow(c); });
  }
  std::vector<Cost> price() {
    auto costs = price_lazily(times.request(), bounds, of_seconds);
    EXPECT_TRUE(costs) << to_string(costs.error());
    return *costs;
  }
};

/// Whether there is a cover of what was sampled before this many candidates that are made slowly.
bool has_cover_before(const ShortTime& in, std::ptrdiff_t slow_count, CostBounds& bounds) {
  LazyCosts sampled(in.times.graph, in.times.pool, bounds);
  for (const std::size_t c : in.asked.candidates) {
    slow_count -= in.is_slow(c) ? 1 : 0;
    if (slow_count < 0) break;
    sampled.learn(c, in.times.sample(c));
  }
  CoverRequest request = in.times.request();
  request.costs = sampled.known();
  return best_cover(request, request.backends).has_value();
}

TEST(ShortPricing, TakesTheRestOfTheFirstCoverFromWhatIsMadeAtOnce) {
  constexpr std::ptrdiff_t kInTime = 16;
  ShortTime in(20);
  in.price();
  EXPECT_TRUE(has_cover_before(in, kInTime, in.bounds));
  ShortTime long_enough(1000);
  long_enough.price();
  EXPECT_FALSE(has_cover_before(long_enough, kInTime, long_enough.bounds));
}

TEST(ShortPricing, SpendsThreeFifthsOfTheTimeOnWhatIsMadeSlowly) {
  ShortTime in(20);
  in.price();
  const auto first_quick = std::ranges::find_if_not(in.asked.candidates, [&](std::size_t c) { return in.is_slow(c); });
  EXPECT_EQ(first_quick - in.asked.candidates.begin(), 12);
}

TEST(ShortPricing, MakesTheKernelsOfLongOperatorsFirst) {
  ShortTime in(20);
  in.price();
  const auto is_long = [&](std::size_t c) {
    const Graph& graph = in.times.graph;
    const std::vector<std::size_t> nodes = in.times.pool.regions[in.times.pool.candidates[c].region].nodes.members();
    return std::ranges::any_of(nodes, [&](std::size_t n) {
      const Node& node = graph.nodes[n];
      return node.op_type == "Conv" && graph.value(node.inputs[1]).constant->extents.back() == 3;
    });
  };
  constexpr std::size_t kFirst = 12;
  EXPECT_TRUE(std::ranges::all_of(std::span(in.asked.candidates).first(kFirst), is_long));
}

TEST(ShortPricing, AsksForTheSameWhereThereIsTimeForAllOfIt) {
  ShortTime in(1000);
  in.price();
  Asked usual;
  price(in.times, usual);
  EXPECT_THAT(in.asked.candidates, UnorderedElementsAreArray(usual.candidates));
}

TEST(MakingPace, SaysHowManyAreMadeInATimeOnceSomeWere) {
  MakingPace pace;
  EXPECT_EQ(pace.chunk_in(8), 4) << "nothing is known";
  EXPECT_GT(pace.count_in(0.1), 1000);
  pace.learn(0, 3);
  pace.learn(4, 2);
  EXPECT_EQ(pace.count_in(8), 16);
  EXPECT_EQ(pace.chunk_in(8), 16);
  EXPECT_EQ(pace.count_in(-1), 0);
  EXPECT_EQ(pace.chunk_in(0.1), 2);
  pace.learn(16, 18);
  EXPECT_EQ(pace.count_in(8), 8);
}

TEST(MakingPace, IsNotNeededWhereTimeDoesNotEnd) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  MakingPace pace;
  EXPECT_GT(pace.chunk_in(kForever), 1000);
  pace.learn(4, kForever - kForever);
  EXPECT_GT(pace.chunk_in(kForever), 1000);
  EXPECT_GT(pace.count_in(kForever), 1000);
}

TEST(LazyCosts, LeavesSlowKernelsWhereNobodyElseRunsTheNode) {
  ShortTime in(1000);
  LazyCosts costs(in.times.graph, in.times.pool, in.bounds);
  const auto is_slow = [&](std::size_t c) { return in.is_slow(c); };
  const auto has_node_0 = [&](std::size_t c) {
    return in.times.pool.regions[in.times.pool.candidates[c].region].nodes.contains(0);
  };
  EXPECT_TRUE(std::ranges::any_of(costs.slow_to_make(is_slow), has_node_0));
  for (std::size_t c = 0; c < in.times.pool.candidates.size(); ++c)
    if (!is_slow(c) && has_node_0(c)) costs.learn(c, Infeasible{});
  EXPECT_FALSE(std::ranges::any_of(costs.slow_to_make(is_slow), has_node_0));
  EXPECT_THAT(costs.slow_to_make([](std::size_t) { return true; }), IsEmpty()) << "then nobody else runs any node";
}

}  // namespace
}  // namespace collage::test
