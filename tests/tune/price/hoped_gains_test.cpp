#include "tune/price/hoped_gains.h"

#include <gtest/gtest.h>

#include "tests/tune/pool_fixture.h"

namespace collage {
namespace {

const std::function<bool()> kNever = [] { return false; };

CoverRequest request_of(const test::PoolProblem& problem) {
  return {.graph = &problem.graph,
          .pool = &problem.pool,
          .costs = problem.costs,
          .backends = {"a", "b", "c"},
          .conversions = problem.conversions(),
          .search = {.launch_ns = problem.launch_ns}};
}

TEST(HopedGains, AreOfTheCoverNotOfTheKernel) {
  auto problem = test::PoolProblem::chain(3);
  problem.add("a", {0}, 100'000);  // candidate 0: might overtake b
  problem.add("b", {0}, 90'000);
  problem.add("a", {1}, 100'000);  // 2: never
  problem.add("b", {1}, 10'000);
  problem.add("a", {2}, 50'000);  // 4: on the best path
  const std::vector<Hope> hopes = {{.candidates = {0}, .ns = 60'000},
                                   {.candidates = {2}, .ns = 60'000},
                                   {.candidates = {4}, .ns = 30'000},
                                   {.candidates = {4}, .ns = 50'000}};
  const auto found = hoped_gains(request_of(problem), hopes, kNever);
  ASSERT_TRUE(found) << to_string(found.error());
  EXPECT_EQ(found->best_ns, 150'000);
  EXPECT_EQ(found->gains, (std::vector<std::int64_t>{30'000, 0, 20'000, 0}));
}

TEST(HopedGains, OfManyAreThoseOfEachAlone) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto problem = test::PoolProblem::random(seed);
    std::vector<Hope> hopes;
    for (std::size_t c = 0; c < problem.pool.candidates.size(); ++c)
      if (const auto ns = nanoseconds_of(problem.costs[c])) hopes.push_back({.candidates = {c}, .ns = *ns / 2});
    const CoverRequest request = request_of(problem);
    const auto together = hoped_gains(request, hopes, kNever);
    ASSERT_TRUE(together) << to_string(together.error());
    for (std::size_t h = 0; h < hopes.size(); ++h) {
      const auto alone = hoped_gains(request, {&hopes[h], 1}, kNever);
      ASSERT_TRUE(alone);
      EXPECT_EQ(together->gains[h], alone->gains[0]) << "seed " << seed << ", candidate " << hopes[h].candidates[0];
    }
  }
}

TEST(HopedGains, WithoutTimeNothingGains) {
  auto problem = test::PoolProblem::chain(1);
  problem.add("a", {0}, 100);
  const Hope hope{.candidates = {0}, .ns = 10};
  const auto found = hoped_gains(request_of(problem), {&hope, 1}, [] { return true; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->gains, std::vector<std::int64_t>{0});
}

}  // namespace
}  // namespace collage
