#include "region/region_json.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/graph_builder.h"
#include "tests/support/schema_check.h"

namespace collage::testing_support {
namespace {

Json whole(const Graph& graph) { return region_json(graph, whole_region(graph, uses_of(graph))); }

TEST(RegionJson, HasThePublishedFormAndTheNamesOfTheGraph) {
  GraphBuilder net({1, 4, 8, 8});
  const ValueId product = net.add(
      "Conv", {net.input("x"), net.weight("w", {4, 4, 3, 3})}, {1, 4, 6, 6},
      {{"group", std::int64_t{1}}, {"strides", std::vector<std::int64_t>{1, 1}}, {"auto_pad", std::string("VALID")}});
  const Graph graph = net.take({net.add("Relu", {product}, {1, 4, 6, 6})});
  const Json json = whole(graph);
  EXPECT_EQ(test::schema_problem(json), "");
  EXPECT_EQ(json["inputs"], Json::parse(R"([{"name": "x", "type": "f32", "shape": [1, 4, 8, 8]}])"));
  EXPECT_EQ(json["nodes"][0]["inputs"], Json::parse(R"(["x", "w"])"));
  EXPECT_EQ(json["nodes"][0]["attributes"], Json::parse(R"({"group": 1, "strides": [1, 1], "auto_pad": "VALID"})"));
  EXPECT_EQ(json["nodes"][1]["op_type"], "Relu");
}

TEST(RegionJson, ShowsStructuralConstantsAndOnlyTheShapeOfWeights) {
  GraphBuilder net({1, 4});
  const float infinity = std::numeric_limits<float>::infinity();
  const ValueId clipped = net.add("Clip", {net.input("x"), net.scalar(-infinity), net.scalar(0.5F)});
  const Graph graph = net.take({net.add("MatMul", {clipped, net.weight("w", {4, 2})}, {1, 2})});
  const Json json = whole(graph);
  EXPECT_EQ(test::schema_problem(json), "");
  EXPECT_EQ(json["constants"][0]["values"], Json::parse(R"(["-inf"])"));
  EXPECT_EQ(json["constants"][1]["values"], Json::parse("[0.5]"));
  EXPECT_FALSE(json["constants"][2].contains("values"));
  EXPECT_EQ(json["constants"][2]["shape"], Json::parse("[4, 2]"));
}

TEST(RegionJson, SaysWhichDimensionsAreOpenAndWhichOperandsAreOmitted) {
  const auto graph = parse_graph(R"(graph g(%x: f32[N,?]) -> (%y) {
  opset ai.onnx 26
  constant %hi = f32[]{6.0}
  %y: f32[N,?] = Clip(%x, _, %hi) "clip"
}
)");
  ASSERT_TRUE(graph) << to_string(graph.error());
  const Json json = whole(*graph);
  EXPECT_EQ(test::schema_problem(json), "");
  EXPECT_EQ(json["inputs"][0]["shape"], Json::parse(R"(["N", null])"));
  EXPECT_EQ(json["nodes"][0]["inputs"], Json::parse(R"(["x", null, "hi"])"));
}

}  // namespace
}  // namespace collage::testing_support
