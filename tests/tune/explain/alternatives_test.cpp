#include "tune/explain/alternatives.h"

#include <gmock/gmock.h>

#include "tests/tune/pool_fixture.h"
#include "tune/price/computations.h"

namespace collage {
namespace {

using test::PoolProblem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CoverRequest request_of(const PoolProblem& problem) {
  return {.graph = &problem.graph,
          .pool = &problem.pool,
          .costs = problem.costs,
          .backends = {"a", "b", "c"},
          .filler = "filler",
          .conversions = problem.conversions(),
          .search = {.launch_ns = problem.launch_ns}};
}

std::vector<std::int64_t> costs_of(const Alternatives& alternatives) {
  std::vector<std::int64_t> costs;
  for (const SearchResult& result : alternatives.covers) costs.push_back(result.cover.cost_ns);
  return costs;
}

TEST(Alternatives, CopiesOfOneBlockChangeTogether) {
  PoolProblem problem = PoolProblem::chain(4);
  for (std::size_t n = 0; n < 4; ++n) {
    problem.add("a", {n}, 10);
    problem.add("b", {n}, 12);
  }
  problem.add("c", {0, 1, 2, 3}, 45);
  const std::vector<std::uint32_t> classes = computation_classes(problem.graph, problem.pool);
  EXPECT_THAT(classes, ElementsAre(0, 1, 0, 1, 0, 1, 0, 1, 2));
  const Alternatives found = find_alternatives(request_of(problem));
  EXPECT_THAT(costs_of(found), ElementsAre(40, 45, 48));
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.why_none, "");
}

TEST(Alternatives, WhatCostsLeastToDoWithoutIsTriedFirst) {
  PoolProblem problem = PoolProblem::chain(3);
  problem.graph.nodes[1].op_type = "Max";
  problem.graph.nodes[2].op_type = "Min";
  problem.add("a", {0}, 10);
  problem.add("b", {0}, 30);
  problem.add("a", {1}, 10);
  problem.add("b", {1}, 30);
  problem.add("a", {2}, 10);
  problem.add("b", {2}, 11);
  const Alternatives found = find_alternatives(request_of(problem), {.count = 3, .max_searches = 2});
  EXPECT_THAT(costs_of(found), ElementsAre(30, 31));
  EXPECT_FALSE(found.complete);
}

TEST(Alternatives, StartWithTheBestCoverAndNeverGetCheaper) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const PoolProblem problem = PoolProblem::random(seed);
    const std::vector<std::int64_t> costs = costs_of(find_alternatives(request_of(problem)));
    ASSERT_FALSE(costs.empty());
    EXPECT_EQ(costs.front(), problem.best()->cover.cost_ns);
    EXPECT_TRUE(std::ranges::is_sorted(costs));
  }
}

TEST(Alternatives, DoNotHopeForConversionsThatNobodyMeasured) {
  PoolProblem problem = PoolProblem::chain(2);
  for (std::size_t n = 0; n < 2; ++n) problem.add("a", {n}, 10);
  problem.add("b", {0}, 1, "channels_last");
  CoverRequest request = request_of(problem);
  request.conversions = [](ValueId, const Place&, const Place&) {
    return std::optional<BoundaryChoice>({"host", Estimated{.ns = 2}});
  };
  ASSERT_EQ(best_cover(request, request.backends)->cover.cost_ns, 2 + 1 + 2 + 10);
  EXPECT_THAT(costs_of(find_alternatives(request)), ElementsAre(20));
}

TEST(Alternatives, KeepWithinACapOfMemory) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.graph.nodes[1].op_type = "Max";
  for (std::size_t n = 0; n < 2; ++n) {
    problem.add("a", {n}, 10);
    problem.add("b", {n}, 12);
  }
  CoverRequest request = request_of(problem);
  request.workspace_bytes = {1000, 0, 0, 0};
  request.search.capacity[kHome] = 500;
  const Alternatives found = find_alternatives(request);
  EXPECT_THAT(costs_of(found), ElementsAre(22, 24));
  EXPECT_FALSE(found.complete) << "under a cap covers are the best found";
  request.search.capacity[kHome] = 1;
  const Alternatives none = find_alternatives(request);
  EXPECT_THAT(none.covers, IsEmpty());
  EXPECT_NE(none.why_none, "");
}

TEST(Alternatives, AreNotSearchedWhereBackendsConflict) {
  PoolProblem problem = PoolProblem::chain(1);
  problem.add("a", {0}, 10);
  CoverRequest request = request_of(problem);
  request.conflicts = {{"a", "b"}};
  EXPECT_NE(find_alternatives(request).why_none, "");
}

}  // namespace
}  // namespace collage
