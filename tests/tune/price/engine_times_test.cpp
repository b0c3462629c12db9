#include "tune/price/engine_times.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace collage {
namespace {

class EngineTimesTest : public ::testing::Test {
 protected:
  EngineTimesTest() {
    testing_support::GraphBuilder builder({1, 4, 8, 8});
    const ValueId x = builder.input("x");
    graph_ = builder.take({builder.add("Relu", {builder.add("Sigmoid", {x})})});
    uses_ = uses_of(graph_);
  }

  /// The candidate's cost when "engine" took 700 ns with the whole model.
  [[nodiscard]] Cost cost_of(const std::string& backend, std::size_t node_count, const std::string& variant,
                             const Format& format, const Cost& known = Unknown{}) const {
    NodeSet nodes(graph_.nodes.size());
    for (std::size_t n = 0; n < node_count; ++n) nodes.insert(n);
    CandidatePool pool;
    pool.regions.push_back(make_region(graph_, uses_, nodes));
    pool.candidates.push_back({.region = 0,
                               .backend = backend,
                               .variant = {.name = variant, .input_formats = {format}, .output_formats = {format}}});
    std::vector<Cost> costs = {known};
    take_engine_times(graph_, pool, {{"engine", 700}}, costs);
    return costs.front();
  }

  Graph graph_;
  Uses uses_;
};

TEST_F(EngineTimesTest, GiveTheWholeGraphACost) {
  EXPECT_EQ(cost_of("engine", 2, "default", plain()),
            Cost(Measured{.median_ns = 700, .low_ns = 700, .high_ns = 700, .samples = 1}));
}

TEST_F(EngineTimesTest, SayNothingOfOtherCandidates) {
  EXPECT_EQ(cost_of("other", 2, "default", plain()), Cost(Unknown{}));
  EXPECT_EQ(cost_of("engine", 1, "default", plain()), Cost(Unknown{}));
  EXPECT_EQ(cost_of("engine", 2, "default", channels_last()), Cost(Unknown{}));
  EXPECT_EQ(cost_of("engine", 2, "default+bf16", plain()), Cost(Unknown{}));
}

TEST_F(EngineTimesTest, LeaveWhatIsKnown) {
  const Cost known = Measured{.median_ns = 5, .low_ns = 5, .high_ns = 5, .samples = 9};
  EXPECT_EQ(cost_of("engine", 2, "default", plain(), known), known);
}

}  // namespace
}  // namespace collage
