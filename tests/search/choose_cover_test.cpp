#include "search/search.h"

#include <gtest/gtest.h>

#include <random>

#include "search_fixture.h"

namespace collage {
namespace {

using testing_support::Problem;

TEST(ChooseCover, PrefersOneFusedCandidateOverTwoThatCostMoreTogether) {
  Problem problem(2, {{0, 1}});
  problem.add("a", {0}, 500);
  problem.add("a", {1}, 100);
  problem.add("b", {0, 1}, 450);
  const SearchResult result = problem.solve();
  EXPECT_EQ(result.cover.cost_ns, 450);
  ASSERT_EQ(result.cover.steps.size(), 1U);
  EXPECT_EQ(result.cover.steps[0].backend, "b");
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.bound_ns, 450);
}

TEST(ChooseCover, SplitsWhenTwoLibrariesTogetherAreFaster) {
  Problem problem(2, {{0, 1}});
  problem.add("t", {0}, 500);
  problem.add("t", {1}, 100);
  problem.add("t", {0, 1}, 450);
  problem.add("d", {0}, 300);
  EXPECT_EQ(problem.solve().cover.cost_ns, 400);
}

TEST(ChooseCover, LaunchCostDecidesBetweenSplitAndFused) {
  Problem problem(2, {{0, 1}});
  problem.add("t", {1}, 100);
  problem.add("t", {0, 1}, 450);
  problem.add("d", {0}, 345);
  problem.options.launch_ns = 10;
  EXPECT_EQ(problem.solve().cover.steps.size(), 1U);
  problem.options.launch_ns = 0;
  EXPECT_EQ(problem.solve().cover.steps.size(), 2U);
}

TEST(ChooseCover, SharesOneConversionBetweenReaders) {
  Problem problem(3, {{0, 1}, {0, 2}});
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10, "channels_last");
  problem.add("a", {2}, 10, "channels_last");
  problem.conversion_ns = 5;
  // One conversion of node 0's value, one back to plain for each of the two outputs.
  EXPECT_EQ(problem.solve().cover.cost_ns, 30 + 5 + 10);
}

TEST(ChooseCover, ManyValuesThatCouldStopElsewhereAreTriedInFewWays) {
  // Two steps read the same twenty values, each of which may make stops on its way to either.
  constexpr std::size_t kValues = 20;
  std::vector<testing_support::Edge> edges;
  for (std::size_t n = 0; n < kValues; ++n)
    for (const std::size_t reader : {kValues, kValues + 1}) edges.push_back({n, reader});
  Problem problem(kValues + 2, edges);
  for (std::size_t n = 0; n < kValues + 2; ++n) problem.add("a", {n}, 100);
  for (const std::size_t reader : {kValues, kValues + 1})
    for (const char* format : {"plain", "channels_last"})
      problem.add_narrow({reader}, 10, format, true, reader > kValues, {});
  problem.conversion_ns = 2;
  problem.cast_ns = 1;
  const SearchResult result = problem.solve();
  EXPECT_EQ(problem.check(result.cover), "");
  EXPECT_LE(result.cover.cost_ns, 22 * 100);
}

TEST(ChooseCover, NeverUsesARegionThatWaitsForItself) {
  Problem problem(3, {{0, 1}, {1, 2}, {0, 2}});
  for (std::size_t n = 0; n < 3; ++n) problem.add("a", {n}, 100);
  EXPECT_FALSE(problem.add("b", {0, 2}, 1));
  EXPECT_EQ(problem.solve().cover.cost_ns, 300);
}

TEST(ChooseCover, NamesANodeThatNobodyCanRun) {
  Problem problem(2, {{0, 1}});
  problem.add("a", {0}, 1);
  const auto result = problem.try_solve();
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, "search/uncoverable");
  EXPECT_NE(result.error().where.find("n1"), std::string::npos);
}

TEST(ChooseCover, SaysWhenTheStateLimitMadeItInexactAndKeepsAValidBound) {
  std::mt19937_64 random(7);
  Problem problem = Problem::random(random, 9);
  const std::int64_t best = problem.solve().cover.cost_ns;
  problem.options.max_states = 1;
  const SearchResult cut = problem.solve();
  EXPECT_GE(cut.cover.cost_ns, best);
  EXPECT_LE(cut.bound_ns, best);
}

}  // namespace
}  // namespace collage
