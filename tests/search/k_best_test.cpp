#include "search/k_best.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "search_fixture.h"

namespace collage {
namespace {

using testing_support::Problem;

std::vector<std::int64_t> costs_of(const std::vector<SearchResult>& covers) {
  std::vector<std::int64_t> costs;
  for (const SearchResult& cover : covers) costs.push_back(cover.cover.cost_ns);
  return costs;
}

KBestCovers search(Problem& problem, const std::vector<std::uint32_t>& classes, const KBestOptions& options) {
  return k_best_covers(problem.graph(), problem.uses(), problem.candidates(), classes, problem.boundaries(),
                       problem.options, options)
      .value();
}

std::vector<SearchResult> best(Problem& problem, const std::vector<std::uint32_t>& classes, std::size_t count) {
  const KBestCovers found = search(problem, classes, {.count = count});
  EXPECT_TRUE(found.complete);
  return found.covers;
}

TEST(KBest, GivesCoversByCost) {
  Problem problem(2, {{0, 1}});
  problem.add("a", {0}, 10);
  problem.add("b", {0}, 12);
  problem.add("a", {1}, 10);
  problem.add("c", {0, 1}, 21);
  EXPECT_EQ(costs_of(best(problem, {0, 1, 2, 3}, 5)), (std::vector<std::int64_t>{20, 21, 22}));
}

TEST(KBest, CopiesOfOneBlockCountOnce) {
  Problem problem(3, {{0, 1}, {1, 2}});
  for (std::size_t n = 0; n < 3; ++n) problem.add("a", {n}, 10);
  for (std::size_t n = 0; n < 3; ++n) problem.add("b", {n}, 12);
  // With a class for each block there are two covers worth looking at: all on a, all on b.
  EXPECT_EQ(costs_of(best(problem, {0, 0, 0, 1, 1, 1}, 8)), (std::vector<std::int64_t>{30, 36}));
}

TEST(KBest, LimitsBanLowNumbersFirstAndSaySo) {
  Problem problem(2, {{0, 1}});
  problem.add("a", {0}, 10);
  problem.add("b", {0}, 15);
  problem.add("a", {1}, 10);
  problem.add("c", {1}, 11);
  // Two searches: the best cover, and the one without the class with the lowest number that it uses.
  const KBestCovers cut = search(problem, {0, 1, 2, 3}, {.count = 3, .max_searches = 2});
  EXPECT_FALSE(cut.complete);
  EXPECT_EQ(costs_of(cut.covers), (std::vector<std::int64_t>{20, 25}));
  EXPECT_EQ(costs_of(search(problem, {3, 1, 2, 0}, {.count = 3, .max_searches = 2}).covers),
            (std::vector<std::int64_t>{20, 21}));
  const KBestCovers idle = search(problem, {0, 1, 2, 3}, {.count = 3, .max_work = 1});
  EXPECT_FALSE(idle.complete);
  EXPECT_EQ(costs_of(idle.covers), std::vector<std::int64_t>{20});
  EXPECT_TRUE(search(problem, {0, 1, 2, 3}, {.count = 1, .max_searches = 1}).complete) << "no more was asked for";
  EXPECT_EQ(costs_of(best(problem, {0, 1, 2, 3}, 3)), (std::vector<std::int64_t>{20, 21, 25}));
}

TEST(KBest, MemoryCountsInTheOrder) {
  Problem problem(1, {});
  problem.add("a", {0}, 10);
  problem.add("b", {0}, 12);
  problem.candidates()[0].workspace_bytes = 1000;
  problem.options.ns_per_byte = 1;
  const KBestCovers found = search(problem, {0, 1}, {.count = 2});
  EXPECT_EQ(costs_of(found.covers), (std::vector<std::int64_t>{12, 10}));
  EXPECT_FALSE(found.complete) << "where memory counts covers are the best found";
}

TEST(KBest, FirstIsTheOptimumAndCostsNeverFall) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, 7);
    std::vector<std::uint32_t> classes(problem.candidates().size());
    std::iota(classes.begin(), classes.end(), 0U);
    const std::vector<std::int64_t> costs = costs_of(best(problem, classes, 6));
    EXPECT_EQ(costs.front(), problem.solve().cover.cost_ns);
    EXPECT_TRUE(std::ranges::is_sorted(costs));
  }
}

}  // namespace
}  // namespace collage
