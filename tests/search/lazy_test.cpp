#include "search/lazy.h"

#include <gtest/gtest.h>

#include "search_fixture.h"

namespace collage {
namespace {

using testing_support::Problem;

/// Replaces costs by bounds and answers questions with what they were.
class Oracle {
 public:
  Oracle(std::vector<SearchCandidate>& candidates, std::mt19937_64& random) {
    for (SearchCandidate& candidate : candidates) {
      costs_.push_back(candidate.cost);
      const std::int64_t ns = *nanoseconds_of(candidate.cost);
      candidate.cost = Estimated{.ns = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ns + 1))};
    }
  }
  MeasureCandidates measure() {
    return [this](std::span<const std::uint32_t> asked) -> Result<std::vector<Cost>> {
      std::vector<Cost> answers;
      for (const std::uint32_t c : asked) answers.push_back(measured_++ < limit_ ? costs_[c] : Cost{Unknown{}});
      return answers;
    };
  }
  void refuse(std::uint32_t candidate) { costs_[candidate] = Infeasible{}; }
  void stop_after(std::size_t limit) { limit_ = limit; }
  [[nodiscard]] std::size_t measured() const { return measured_; }

 private:
  std::vector<Cost> costs_;
  std::size_t measured_ = 0;
  std::size_t limit_ = ~std::size_t{0};
};

TEST(Lazy, CostsWhatMeasuringEverythingGives) {
  std::size_t measured = 0;
  std::size_t all = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, 2 + seed % 8);
    const std::int64_t eager = problem.solve().cover.cost_ns;
    all += problem.candidates().size();
    Oracle oracle(problem.candidates(), random);
    const auto lazy = choose_lazily(problem.graph(), problem.uses(), problem.candidates(), problem.boundaries(),
                                    oracle.measure(), problem.options);
    ASSERT_TRUE(lazy->complete);
    ASSERT_EQ(lazy->search.cover.cost_ns, eager);
    ASSERT_EQ(lazy->search.bound_ns, eager);
    ASSERT_EQ(lazy->measured, oracle.measured());
    measured += lazy->measured;
  }
  EXPECT_LT(measured, all * 3 / 4);
}

TEST(Lazy, GoesOnWithoutWhatTurnsOutImpossible) {
  Problem problem(2, {{0, 1}});
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10);
  problem.add("b", {0, 1}, 5);
  std::mt19937_64 random(1);
  Oracle oracle(problem.candidates(), random);
  oracle.refuse(2);
  const auto lazy = choose_lazily(problem.graph(), problem.uses(), problem.candidates(), problem.boundaries(),
                                  oracle.measure(), problem.options);
  EXPECT_EQ(lazy->search.cover.cost_ns, 20);
}

TEST(Lazy, SaysWhenMeasuringEndedBeforeTheCoverWasKnown) {
  std::mt19937_64 random(3);
  Problem problem = Problem::random(random, 8);
  Oracle oracle(problem.candidates(), random);
  oracle.stop_after(1);
  const auto lazy = choose_lazily(problem.graph(), problem.uses(), problem.candidates(), problem.boundaries(),
                                  oracle.measure(), problem.options);
  EXPECT_FALSE(lazy->complete);
}

}  // namespace
}  // namespace collage
