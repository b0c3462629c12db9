// Proposing on a graph of ten thousand nodes stays within seconds even on a busy machine: nothing in it is quadratic.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/region/rule_fixture.h"

namespace collage::testing_support {
namespace {

/// Residual blocks conv -> relu -> conv -> add -> relu of differing widths.
Graph residual_network(std::size_t nodes) {
  GraphBuilder net;
  ValueId value = net.input("x");
  const ValueId weights = net.weight("w", {4, 4, 1, 1});
  for (std::size_t n = 0; n < nodes; n += 5) {
    const ValueId inner = net.add("Relu", {net.add("Conv", {value, weights})});
    value = net.add("Relu", {net.add("Add", {net.add("Conv", {inner, weights}), value})});
  }
  return net.take({value});
}

TEST(Scale, TenThousandNodesAreProposedWithoutQuadraticWork) {
  const Subject subject(residual_network(10'000));
  std::vector<Proposer> proposers;
  for (const char* name : {"a", "b"}) {
    PartitionRules rules{.patterns = {{"conv", "Conv -> Relu|Add*"}, {"tail", "Relu?(Add(Conv, *))"}}};
    rules.growth = Growth::kLikeNative;
    rules.max_region_nodes = 4;
    proposers.push_back(willing(name, rules));
  }
  proposers.push_back(willing("engine", PartitionRules{.growth = Growth::kAny, .max_splits = 2}));
  const auto start = std::chrono::steady_clock::now();
  const CandidatePool pool = propose(subject.graph, subject.uses, proposers);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GT(pool.candidates.size(), 50'000U);
  EXPECT_LT(seconds, 10.0);
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
}

}  // namespace
}  // namespace collage::testing_support
