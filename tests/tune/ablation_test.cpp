#include "tune/ablation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tune/pool_fixture.h"

namespace collage {
namespace {

using testing::UnorderedElementsAre;

/// "backend: nodes" of each candidate.
std::vector<std::string> texts(const CandidatePool& pool) {
  std::vector<std::string> texts;
  for (const Candidate& one : pool.candidates) {
    std::string text = one.backend + ":";
    for (const std::size_t n : pool.regions[one.region].nodes.members()) text += " " + std::to_string(n);
    texts.push_back(text);
  }
  return texts;
}

/// A chain of four nodes; each backend takes every node, a also 0 1, b also 1 2 3.
class AblationTest : public testing::Test {
 protected:
  AblationTest() : problem_(test::PoolProblem::chain(4)) {
    for (std::size_t n = 0; n < 4; ++n) {
      problem_.add("a", {n}, 1);
      problem_.add("b", {n}, 1);
    }
    problem_.add("a", {0, 1}, 1);
    problem_.add("b", {1, 2, 3}, 1);
  }

  [[nodiscard]] CandidatePool without(const std::string& name) const {
    return ablated(problem_.pool, problem_.graph, {"a", "b"}, ablations_from({name}).value());
  }

  test::PoolProblem problem_;
};

TEST_F(AblationTest, ThePoolIsWholeWithoutAny) {
  EXPECT_EQ(texts(ablated(problem_.pool, problem_.graph, {"a", "b"}, {})), texts(problem_.pool));
  EXPECT_FALSE(Ablations().any());
}

TEST_F(AblationTest, TheLargestRegionGoesFirst) {
  EXPECT_THAT(texts(without("largest-first")), UnorderedElementsAre("b: 1 2 3", "a: 0"));
}

TEST_F(AblationTest, ABackendTakesWhatItCanBeforeTheNext) {
  EXPECT_THAT(texts(without("backend-order")), UnorderedElementsAre("a: 0 1", "a: 2", "a: 3"));
}

TEST_F(AblationTest, FormatsOfItsOwnHasNobody) {
  problem_.add("b", {0}, 1, "channels_last");
  const std::size_t all = problem_.pool.candidates.size();
  EXPECT_EQ(without("formats").candidates.size(), all - 1);
  EXPECT_EQ(without("correction").candidates.size(), all);
}

/// 0 feeds 1 and 2, which feed 3: {0, 3} would wait for 1, which waits for 0.
TEST(Ablation, RegionsThatWaitForEachOtherAreNotTakenTogether) {
  test::PoolProblem problem(4, {{0, 1}, {1, 3}, {2, 3}, {0, 2}});
  for (std::size_t n = 0; n < 4; ++n) problem.add("a", {n}, 1);
  problem.add("a", {0, 1}, 1);
  problem.add("a", {2, 3}, 1);
  const CandidatePool chosen = ablated(problem.pool, problem.graph, {"a"}, ablations_from({"largest-first"}).value());
  EXPECT_THAT(texts(chosen), UnorderedElementsAre("a: 0 1", "a: 2 3"));

  test::PoolProblem crossing(4, {{0, 1}, {2, 3}});
  for (std::size_t n = 0; n < 4; ++n) crossing.add("a", {n}, 1);
  crossing.add("a", {0, 3}, 1);
  crossing.add("a", {1, 2}, 1);
  const CandidatePool legal = ablated(crossing.pool, crossing.graph, {"a"}, ablations_from({"largest-first"}).value());
  EXPECT_THAT(texts(legal), UnorderedElementsAre("a: 0 3", "a: 1", "a: 2"));
}

TEST(Ablation, HasNames) {
  const auto some = ablations_from({"evolution", "formats"});
  ASSERT_TRUE(some);
  EXPECT_EQ(to_text(*some), "formats,evolution");
  EXPECT_TRUE(some->improves());
  EXPECT_FALSE(ablations_from({"backend-order"})->improves());
  const auto wrong = ablations_from({"nothing"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error(), testing::HasSubstr("largest-first"));
  EXPECT_FALSE(ablations_from({"largest-first", "backend-order"}));
  EXPECT_EQ(to_text(Ablations()), "");
}

}  // namespace
}  // namespace collage
