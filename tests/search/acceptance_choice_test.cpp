// What the op-level placement of the paper's system chose, and should have: costs from a fixed table, in nanoseconds.
#include <unistd.h>

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "placement_fixture.h"
#include "search_fixture.h"
#include "tests/support/scratch_folder.h"

namespace collage::testing_support {
namespace {

/// A convolution and its activation; library T has both and the pair, library D the convolution alone.
Placement convolution_and_relu(std::int64_t d_conv_ns, std::int64_t launch_ns) {
  GraphBuilder net;
  const ValueId conv = net.add("Conv", {net.input("x"), net.weight("w", {4, 4, 1, 1})});
  Placement placement(net.take({net.add("Relu", {conv})}),
                      {willing("T", any_of({pattern_rule("conv", "Conv"), pattern_rule("relu", "Relu"),
                                            pattern_rule("conv-relu", "Conv -> Relu")})),
                       willing("D", pattern_rule("conv", "Conv"))});
  MockCosts costs;
  costs.exactly("T", "{0}", 500'000).exactly("T", "{1}", 100'000).exactly("T", "{0,1}", 450'000);
  costs.exactly("D", "{0}", d_conv_ns);
  placement.price(std::ref(costs));
  placement.options.launch_ns = launch_ns;
  return placement;
}

std::string placed(const Placement& placement) {
  const auto result = placement.search_and_coalesce();
  EXPECT_TRUE(result) << to_string(result.error());
  return result ? partitions(result->cover) + " = " + std::to_string(result->cover.cost_ns) : "";
}

TEST(Acceptance, TwoLibrariesTogetherBeatOneThatFuses) {
  EXPECT_EQ(placed(convolution_and_relu(300'000, 10'000)), "D {0}; T {1} = 420000");
}

TEST(Acceptance, WhatAStepCostsBesideItsKernelDecides) {
  EXPECT_EQ(placed(convolution_and_relu(345'000, 10'000)), "T {0,1} = 460000");
  EXPECT_EQ(placed(convolution_and_relu(345'000, 0)), "D {0}; T {1} = 445000");
}

TEST(Acceptance, AnotherBackendNeverMakesTheBestCoverDearer) {
  std::size_t gains = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, {.nodes = 2 + seed % 7, .device = seed % 3 == 0});
    const std::int64_t before = problem.solve().cover.cost_ns;
    const std::size_t nodes = problem.graph().nodes.size();
    for (std::size_t n = 0; n < nodes; ++n) {
      problem.add("more", {n}, 1 + static_cast<std::int64_t>(random() % 30), random() % 2 ? "plain" : "channels_last");
      if (n > 0) problem.add("more", {n - 1, n}, 1 + static_cast<std::int64_t>(random() % 50));
    }
    const SearchResult after = problem.solve();
    EXPECT_LE(after.cover.cost_ns, before);
    EXPECT_EQ(problem.check(after.cover), "");
    gains += after.cover.cost_ns < before ? 1 : 0;
  }
  EXPECT_GT(gains, 100U) << "otherwise nothing is shown";
}

/// Many covers of many ties, as text.
std::string many_covers() {
  std::string text;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    Problem problem = Problem::random(random, {.nodes = 4 + seed % 9, .wide = seed % 2 == 0});
    for (SearchCandidate& candidate : problem.candidates())
      candidate.cost = exact_cost(1 + static_cast<std::int64_t>(candidate.region->nodes.count()));
    const auto result =
        coalesced(problem.graph(), problem.uses(), problem.candidates(), problem.boundaries(), problem.options);
    text += result ? to_text(problem.graph(), result->cover) : to_string(result.error());
  }
  return text;
}

/// The test's program runs again, as a process with addresses of its own.
TEST(Acceptance, AnotherProcessChoosesTheSameFromTheSameCosts) {
  constexpr const char* kFile = "COLLAGE_TEST_COVERS_FILE";
  if (const char* file = std::getenv(kFile)) {
    std::ofstream(file) << many_covers();
    return;
  }
  const test::ScratchFolder folder;
  std::vector<std::string> texts = {many_covers()};
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const char* name : {"first", "second"}) {
    const std::string command =
        std::string(kFile) + "='" + folder.file(name) + "' '" + self +
        "' --gtest_filter='Acceptance.AnotherProcessChoosesTheSameFromTheSameCosts' > /dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
    std::ifstream file(folder.file(name));
    texts.push_back((std::ostringstream() << file.rdbuf()).str());
  }
  EXPECT_GT(texts[0].size(), 5000U);
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

}  // namespace
}  // namespace collage::testing_support
