#include "tune/node_rules.h"

#include <gtest/gtest.h>

#include "backend/roles.h"
#include "tests/support/graph_builder.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

Graph three_nodes() {
  testing_support::GraphBuilder net;
  return net.take({net.add("Relu", {net.add("Abs", {net.add("Relu", {net.input("x")})})})});
}

TEST(ModelPins, AreSeparatedBySemicolonsAndLines) {
  const auto pins = parse_pins(" conv*=a ;\n relu?=b:opt=off\n;");
  ASSERT_TRUE(pins) << to_string(pins.error());
  ASSERT_EQ(pins->size(), 2U);
  EXPECT_EQ((*pins)[0].glob, "conv*");
  EXPECT_EQ((*pins)[0].backend, "a");
  EXPECT_EQ((*pins)[1].glob, "relu?");
  EXPECT_EQ((*pins)[1].backend, "b:opt=off");
  EXPECT_TRUE(parse_pins("")->empty());
}

TEST(ModelPins, SayWhatIsWrongAndWhere) {
  const auto pins = parse_pins("conv*=a;nothing");
  ASSERT_FALSE(pins);
  EXPECT_EQ(pins.error().code, "tune/bad-rule");
  EXPECT_EQ(pins.error().where, kPinMetadata);
  EXPECT_EQ(pins.error().saw, "nothing");
}

TEST(DeviceRules, MeanEveryBackendOfTheDevice) {
  Registry registry(test::module_folders());
  const std::vector<std::string> instances = {kHostBackend};
  EXPECT_EQ(backends_on("cpu", registry, instances), instances);
  EXPECT_TRUE(backends_on("gpu", registry, instances).empty());

  std::vector<NodeRule> rules = {{.kind = NodeRule::Kind::kPin, .glob = "*", .backend = "cpu"}};
  ASSERT_TRUE(resolve_devices(registry, instances, rules));
  const Graph graph = three_nodes();
  NodeSet nodes(graph.nodes.size());
  nodes.insert(0);
  EXPECT_TRUE(is_allowed(graph, nodes, kHostBackend, rules));
  EXPECT_FALSE(is_allowed(graph, nodes, "elsewhere", rules));
  rules[0].kind = NodeRule::Kind::kBan;
  EXPECT_FALSE(is_allowed(graph, nodes, kHostBackend, rules));
  EXPECT_TRUE(is_allowed(graph, nodes, "elsewhere", rules));
}

TEST(DeviceRules, NameNeitherBackendNorDeviceIsAnError) {
  Registry registry(test::module_folders());
  const std::vector<std::string> instances = {kHostBackend};
  std::vector<NodeRule> rules = {{.kind = NodeRule::Kind::kPin, .glob = "*", .backend = "abacus"}};
  const auto resolved = resolve_devices(registry, instances, rules);
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, "backend/missing");
}

}  // namespace
}  // namespace collage
