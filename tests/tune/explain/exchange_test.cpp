#include "tune/explain/exchange.h"

#include "tests/tune/pool_fixture.h"
#include "tune/explain/margins.h"

namespace collage {
namespace {

using test::PoolProblem;

Exchange exchange_of(const PoolProblem& problem, const Cover& cover) {
  return {{.graph = &problem.graph,
           .uses = &problem.uses,
           .pool = &problem.pool,
           .costs = problem.costs,
           .conversions = problem.conversions(),
           .launch_ns = problem.launch_ns},
          cover,
          std::vector<bool>(problem.pool.candidates.size(), true)};
}

TEST(Exchange, SumsWhatTheSearchSums) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const PoolProblem problem = PoolProblem::random(seed);
    const auto best = problem.best();
    ASSERT_TRUE(best);
    EXPECT_EQ(exchange_of(problem, best->cover).total_ns(), best->cover.cost_ns);
  }
}

TEST(Exchange, NeverPromisesLessThanTheBestCoverWithTheCandidate) {
  std::size_t known = 0;
  std::size_t tight = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const PoolProblem problem = PoolProblem::random(seed);
    const auto best = problem.best();
    ASSERT_TRUE(best);
    Exchange exchange = exchange_of(problem, best->cover);
    for (std::uint32_t c = 0; c < problem.pool.candidates.size(); ++c) {
      SCOPED_TRACE(c);
      const auto change = exchange.change_ns(c);
      if (!change) continue;
      const auto with_it = problem.best(c);
      ASSERT_TRUE(with_it) << "an exchange is a cover";
      EXPECT_GE(*change, with_it->cover.cost_ns - best->cover.cost_ns);
      ++known;
      if (*change == with_it->cover.cost_ns - best->cover.cost_ns) ++tight;
    }
    EXPECT_EQ(exchange.total_ns(), best->cover.cost_ns) << "nothing stays exchanged";
  }
  EXPECT_GT(known, 3000U);
  EXPECT_GT(tight, known / 2);
}

TEST(Exchange, CountsConversionsThatComeAndGo) {
  PoolProblem problem = PoolProblem::chain(3);
  for (std::size_t n = 0; n < 3; ++n) problem.add("a", {n}, 10);
  problem.add("b", {1}, 4, "channels_last");
  problem.add("b", {0}, 2, "channels_last");
  const auto best = problem.best();
  ASSERT_EQ(best->cover.cost_ns, 22) << "3 to channels_last, 2, 10 after 3 to plain, 4 would need no third";
}

TEST(Exchange, RefusesStepsThatWouldWaitForOneAnother) {
  // n0 -> n1 and n2 -> n3: one step over n0 and n3 waits for n2, one over n1 and n2 for n0.
  PoolProblem problem(4, {{0, 1}, {2, 3}});
  problem.add("a", {0, 3}, 10);
  problem.add("a", {1}, 10);
  problem.add("a", {2}, 10);
  problem.add("c", {1, 2}, 1);
  const auto best = problem.best();
  ASSERT_EQ(best->cover.cost_ns, 30);
  EXPECT_EQ(exchange_of(problem, best->cover).change_ns(3), std::nullopt);
}

TEST(Exchange, AStepThatRepeatsANodeNeitherCoversItNorTakesItFromTheStepThatDoes) {
  // n0 feeds n1 and n2; b computes n0 again for n2.
  PoolProblem problem(3, {{0, 1}, {0, 2}});
  problem.add("a", {0}, 20);
  problem.add("a", {1}, 10);
  problem.add("a", {2}, 10);
  problem.add("b", {0, 2}, 4, "plain", "v", {0});
  problem.add("c", {0}, 12);
  problem.add("c", {0}, 5, "channels_last");
  const auto best = problem.best();
  ASSERT_EQ(best->cover.cost_ns, 5 + 3 + 3 + 10 + 4) << "of n0 only n1 reads";
  Exchange exchange = exchange_of(problem, best->cover);
  EXPECT_EQ(exchange.total_ns(), best->cover.cost_ns);
  EXPECT_EQ(exchange.candidate_at(0), 5U);
  EXPECT_EQ(exchange.candidate_at(2), 3U);
  EXPECT_EQ(exchange.change_ns(0), 20 - 5 - 3 - 3) << "b has its own n0 and is not touched";
  EXPECT_EQ(exchange.change_ns(2), 10 - 4) << "n0 is plain for n1 already";
}

TEST(Exchange, AStepThatRepeatsANodeReadsWhatTheNodeReads) {
  PoolProblem problem(3, {{0, 1}, {1, 2}});
  problem.add("a", {0}, 10, "channels_last");
  problem.add("a", {1}, 10, "channels_last");
  problem.add("b", {1, 2}, 4, "plain", "v", {1});
  const auto best = problem.best();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->cover.cost_ns, 3 + 10 + 10 + 3 + 4) << "the input and n0's value are converted";
  EXPECT_EQ(exchange_of(problem, best->cover).total_ns(), best->cover.cost_ns);
}

TEST(Exchange, AValueThatOneStepKeepsInsideIsNotThereForAnotherThatRepeatsItsReader) {
  // n0 -> n1 -> n2: b repeats n1 for n2, so it needs n0's value.
  PoolProblem problem = PoolProblem::chain(3);
  for (std::size_t n = 0; n < 2; ++n) problem.add("a", {n}, 10);
  problem.add("b", {1, 2}, 4, "plain", "v", {1});
  problem.add("c", {0, 1}, 5);
  const auto best = problem.best();
  ASSERT_TRUE(best);
  EXPECT_EQ(best->cover.cost_ns, 24);
  EXPECT_EQ(exchange_of(problem, best->cover).change_ns(3), std::nullopt);
}

TEST(Exchange, FillsWhatTheCandidateLeavesOver) {
  PoolProblem problem = PoolProblem::chain(3);
  problem.add("a", {0, 1, 2}, 10);
  problem.add("b", {1}, 5);
  problem.add("b", {0}, 6);
  problem.add("c", {2}, 8);
  problem.add("c", {0}, 4);
  const auto best = problem.best();
  Exchange exchange = exchange_of(problem, best->cover);
  EXPECT_EQ(exchange.change_ns(1), 5 + 4 + 8 - 10);
  problem.costs[3] = Unknown{};
  EXPECT_EQ(exchange_of(problem, best->cover).change_ns(1), std::nullopt) << "nobody is known to run n2 alone";
}

TEST(Margins, NoCoverWithAnUnmeasuredCandidateIsCheaperThanPromised) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const PoolProblem truth = PoolProblem::random(seed);
    Dice dice(seed);
    PoolProblem known = truth;
    std::vector<std::int64_t> bounds(truth.costs.size(), 0);
    // The first candidate of each node stays, so that a cover exists.
    for (std::uint32_t c = 0; c < truth.costs.size(); ++c)
      if (truth.pool.candidates[c].backend != "a" && dice.one_in(2)) {
        bounds[c] = *nanoseconds_of(truth.costs[c]) / 2;
        known.costs[c] = Unknown{};
      }
    const auto best = known.best();
    ASSERT_TRUE(best);
    ExplainInputs inputs = known.inputs(best->cover);
    inputs.lower_bound_ns = bounds;
    const Margins margins = margins_of(inputs, known.uses);
    for (std::uint32_t c = 0; c < truth.costs.size(); ++c) {
      EXPECT_EQ(margins.at_least[c].has_value(), std::holds_alternative<Unknown>(known.costs[c]));
      const auto with_it = truth.best(c);
      if (!margins.at_least[c] || !with_it) continue;
      EXPECT_LE(*margins.at_least[c], with_it->cover.cost_ns - best->cover.cost_ns);
    }
  }
}

}  // namespace
}  // namespace collage
