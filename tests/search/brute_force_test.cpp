// The search against every legal schedule of small problems, and what must hold between related problems.
#include <gtest/gtest.h>

#include <random>

#include "region/narrow_variant.h"
#include "search/search.h"
#include "search_fixture.h"
#include "tests/support/long_run.h"

namespace collage {
namespace {

using testing_support::Problem;
using testing_support::RandomShape;

RandomShape shape_of(std::uint64_t seed) {
  // Up to nine nodes; those with two outputs each no more than brute force has bits for.
  return {.nodes = 2 + seed % 8, .wide = seed / 8 % 4 == 0, .several_outputs = seed / 32 % 2 == 0};
}

/// A quarter of ten thousand graphs, or its beginning.
class BruteForceQuarter : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BruteForceQuarter, AgreesOverAllSchedulesAndFormats) {
  std::size_t repeated = 0;
  const std::uint64_t first = GetParam() * 2500;
  for (std::uint64_t seed = first; seed < first + test::by_length<std::uint64_t>(1000, 2500); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Problem problem = Problem::random(random, shape_of(seed));
    const auto result = problem.try_solve();
    const auto best = problem.brute_force();
    ASSERT_EQ(result.has_value(), best.has_value());
    if (!best) continue;
    ASSERT_TRUE(result->exact);
    ASSERT_EQ(result->cover.cost_ns, *best);
    ASSERT_EQ(result->bound_ns, *best);
    ASSERT_EQ(problem.check(result->cover), "");
    for (const CoverStep& step : result->cover.steps)
      if (const Region* const region = chosen_region(step)) repeated += !region->repeated.empty();
  }
  EXPECT_GT(repeated, test::by_length(5U, 20U)) << "few covers repeat a producer: the test has lost its point";
}

INSTANTIATE_TEST_SUITE_P(TenThousandGraphs, BruteForceQuarter, testing::Range<std::uint64_t>(0, 4));

TEST(BruteForce, AgreesOverTransfersToAnotherDevice) {
  std::size_t on_device = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Problem problem =
        Problem::random(random, {.nodes = 2 + seed % 6, .several_outputs = seed % 2 == 0, .device = true});
    const SearchResult result = problem.solve();
    ASSERT_EQ(result.cover.cost_ns, problem.brute_force());
    ASSERT_EQ(problem.check(result.cover), "");
    for (const CoverStep& step : result.cover.steps)
      on_device += chosen_region(step) != nullptr && location_of(step) != kHome;
  }
  EXPECT_GT(on_device, 500U) << "few steps on the device: the test has lost its point";
}

TEST(BruteForce, AgreesOverElementTypes) {
  std::size_t casts = 0;
  std::size_t mixed = 0;
  for (std::uint64_t seed = 0; seed < test::by_length<std::uint64_t>(250, 4000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Problem problem =
        Problem::random(random, {.nodes = 2 + seed % 5, .several_outputs = seed % 2 == 0, .narrow = true});
    const SearchResult result = problem.solve();
    ASSERT_TRUE(result.exact);
    ASSERT_EQ(result.cover.cost_ns, problem.brute_force());
    ASSERT_EQ(result.bound_ns, result.cover.cost_ns);
    ASSERT_EQ(problem.check(result.cover), "");
    for (const CoverStep& step : result.cover.steps) {
      const auto move = move_of(step);
      casts += move && move->from.format.narrow() != move->to.format.narrow();
      const Variant* const variant = chosen_variant(step);
      mixed += variant != nullptr && has_narrow_port(*variant) &&
               variant->input_formats.front().narrow() != variant->output_formats.front().narrow();
    }
  }
  EXPECT_GT(casts, test::by_length(60U, 1000U)) << "few casts: the test has lost its point";
  EXPECT_GT(mixed, test::by_length(30U, 500U)) << "few steps cast in a kernel: the test has lost its point";
}

TEST(BruteForce, BoundNeverExceedsTheOptimumWhenTheSearchIsCutShort) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, shape_of(seed));
    const auto best = problem.brute_force();
    problem.options.max_states = 1 + seed % 30;
    const auto result = problem.try_solve();
    if (!result) continue;  // a beam may lose every way on
    ASSERT_LE(result->bound_ns, *best);
    ASSERT_GE(result->cover.cost_ns, *best);
    ASSERT_EQ(problem.check(result->cover), "");
  }
}

TEST(Metamorphic, AddingACandidateNeverMakesItWorse) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, shape_of(seed));
    const std::int64_t before = problem.solve().cover.cost_ns;
    problem.add_random(random);
    EXPECT_LE(problem.solve().cover.cost_ns, before);
  }
}

TEST(Metamorphic, AnotherTopologicalOrderDoesNotChangeTheCost) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Problem problem = Problem::random(random, shape_of(seed));
    const Problem other = problem.reordered(random);
    ASSERT_EQ(problem.solve().cover.cost_ns, other.solve().cover.cost_ns);
  }
}

TEST(Metamorphic, TheOrderOfCandidatesDoesNotChangeTheCost) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, shape_of(seed));
    const std::int64_t before = problem.solve().cover.cost_ns;
    problem.shuffle_candidates(random);
    EXPECT_EQ(problem.solve().cover.cost_ns, before);
  }
}

TEST(Metamorphic, TheSameProblemGivesTheSameCoverToTheByte) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 first(seed);
    std::mt19937_64 second(seed);
    const Problem a = Problem::random(first, shape_of(seed));
    const Problem b = Problem::random(second, shape_of(seed));
    EXPECT_EQ(to_text(a.graph(), a.solve().cover), to_text(b.graph(), b.solve().cover)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace collage
