#include "numbers/rounding_slack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "numbers/output_bound.h"
#include "numbers/quantisers.h"

namespace collage {
namespace {

Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text);
  COLLAGE_CHECK(graph.has_value(), graph ? "" : to_string(graph.error()));
  graph->opsets = {{"", 21}, {"com.microsoft", 1}};
  return *std::move(graph);
}

Tensor floats(const std::vector<float>& values) {
  return make_tensor<float>(ElementType::kFloat32, {static_cast<std::int64_t>(values.size())}, values);
}
Tensor bytes(const std::vector<std::uint8_t>& values) {
  return make_tensor<std::uint8_t>(ElementType::kUint8, {static_cast<std::int64_t>(values.size())}, values);
}

/// Different from `value`, by a little.
void expect_nudged(float seen, float value) {
  EXPECT_NE(seen, value);
  EXPECT_NEAR(seen, value, 2e-3 * value);
}

TEST(NudgedTwin, IsNoneWithoutQuantisers) {
  EXPECT_FALSE(nudged_twin(graph_of("graph(%x: f32[2]) -> (%y) { %y: f32[2] = Relu(%x) }")));
  EXPECT_FALSE(
      nudged_twin(graph_of("graph(%x: u8[2]) -> (%y) { constant %s = f32[]{0.5} "
                           "%y: f32[2] = DequantizeLinear(%x, %s) }")));
}

TEST(NudgedTwin, QuantisesNumbersThatDifferByALittle) {
  const Graph graph = graph_of(
      "graph(%x: f32[2,3]) -> (%y, %d) { constant %s = f32[]{0.5} constant %z = u8[]{3} "
      "%y: u8[2,3] = QuantizeLinear(%x, %s, %z) %d: u8[2,3], %ds: f32[], %dz: u8[] = DynamicQuantizeLinear(%x) }");
  const auto twin = nudged_twin(graph);
  ASSERT_TRUE(twin);
  EXPECT_TRUE(verify(*twin));
  ASSERT_EQ(twin->nodes.size(), 4U);
  for (const std::size_t n : {0U, 2U}) {
    const Node& product = twin->nodes[n];
    EXPECT_EQ(product.op_type, "Mul");
    EXPECT_EQ(twin->nodes[n + 1].inputs[0], product.outputs[0]);
    const Tensor* factors = constant_of(*twin, product.inputs[1]);
    ASSERT_NE(factors, nullptr);
    EXPECT_EQ(factors->extents, (Extents{3}));
    const auto values = factors->data.as<float>();
    for (const float value : values) EXPECT_NEAR(value, 1, 2e-3);
    EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), 1U)
        << "a common factor would leave a computed scale's bytes as they are";
  }
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    EXPECT_EQ(twin->value(twin->outputs[o]).name, graph.value(graph.outputs[o]).name);
}

TEST(NudgedTwin, ChangesTheScaleThatAnOperatorRoundsTo) {
  const Graph graph = graph_of(
      "graph(%a: u8[2], %b: u8[2]) -> (%y) { constant %s = f32[]{0.5} constant %z = u8[]{3} "
      "%y: u8[2] = com.microsoft::QLinearAdd(%a, %s, %z, %b, %s, %z, %s, %z) }");
  const auto twin = nudged_twin(graph);
  ASSERT_TRUE(twin);
  const Node& sum = twin->nodes.at(0);
  EXPECT_EQ(constant_of(*twin, sum.inputs[1])->data.as<float>()[0], 0.5F);
  EXPECT_EQ(constant_of(*twin, sum.inputs[4])->data.as<float>()[0], 0.5F);
  expect_nudged(constant_of(*twin, sum.inputs[6])->data.as<float>()[0], 0.5F);
}

TEST(NudgedTwin, LeavesQuantisedConstants) {
  EXPECT_FALSE(
      nudged_twin(graph_of("graph(%x: f32[2]) -> (%y) { constant %w = f32[2]{1, 2} constant %s = f32[]{0.5} "
                           "constant %z = u8[]{3} %y: u8[2] = QuantizeLinear(%w, %s, %z) }")));
}

double step_in(const std::string& nodes, const std::string& output) {
  const Graph graph =
      graph_of("graph(%x: f32[4], %q: u8[4]) -> (" + output +
               ") { constant %s = f32[]{0.25} constant %z = u8[]{3} constant %w = f32[4,4]{1,0,0,0,0,1,0,0,"
               "0,0,1,0,0,0,0,1} " +
               nodes + " }");
  const Uses uses = uses_of(graph);
  return step_of(graph, uses, whole_region(graph, uses), graph.outputs[0]);
}

TEST(Step, OfIntegersAfterAQuantiserIsOne) {
  EXPECT_EQ(step_in("%y: u8[4] = QuantizeLinear(%x, %s, %z)", "%y"), 1);
  EXPECT_EQ(step_in("%a: u8[4] = QuantizeLinear(%x, %s, %z) %y: u8[4] = Relu(%a)", "%y"), 1);
  EXPECT_EQ(step_in("%y: u8[4] = Relu(%q)", "%y"), 0);
}

TEST(Step, OfFloatsIsTheScaleWhereTheyAreDequantisedAfterAQuantiserInside) {
  const std::string inside = "%a: u8[4] = QuantizeLinear(%x, %s, %z) %b: f32[4] = DequantizeLinear(%a, %s, %z) ";
  EXPECT_EQ(step_in(inside, "%b"), 0.25);
  EXPECT_EQ(step_in(inside + "%y: f32[4] = Relu(%b)", "%y"), 0.25);
  EXPECT_EQ(step_in(inside + "%y: f32[4] = Add(%b, %x)", "%y"), 0.25);
  EXPECT_EQ(step_in(inside + "%y: f32[4] = Add(%b, %b)", "%y"), 0.5);
  EXPECT_EQ(step_in(inside + "%y: f32[4] = Exp(%b)", "%y"), 0) << "it grows by what the operator makes of it";
  EXPECT_EQ(step_in("%y: f32[4] = DequantizeLinear(%q, %s, %z)", "%y"), 0) << "the region's input is exact";
}

TEST(RoundingSlack, IsTwiceTheLargestDifference) {
  EXPECT_FLOAT_EQ(rounding_slack(floats({1, 2, 3}), floats({1, 2.25F, 2.875F}), false), 0.5F);
  EXPECT_EQ(rounding_slack(floats({1, 2}), floats({1, 2}), false), 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(rounding_slack(floats({nan, 2}), floats({1, 2}), false), 0) << "NaN is judged by itself";
}

TEST(RoundingSlack, OfIntegersIsAtLeastOneStepWhereTheyAreRounded) {
  EXPECT_EQ(rounding_slack(bytes({1, 2}), bytes({1, 2}), true), 1);
  EXPECT_EQ(rounding_slack(bytes({1, 2}), bytes({4, 2}), true), 6);
  EXPECT_EQ(rounding_slack(bytes({1, 2}), bytes({4, 2}), false), 0) << "an index is right or wrong";
}

TEST(RoundingSlack, WidensTheBoundOfAClassAndNotThatOfTheUser) {
  const auto is_inside = [](const Tensor& seen, const Tensor& expected, const char* bound, double slack) {
    return check_output(seen, expected, *output_bound_of(bound), slack).comparison.ok;
  };
  EXPECT_FALSE(is_inside(floats({1, 10}), floats({1.5F, 10}), "standard", 0));
  EXPECT_TRUE(is_inside(floats({1, 10}), floats({1.5F, 10}), "standard", 0.5));
  EXPECT_FALSE(is_inside(floats({1, 10}), floats({1.6F, 10}), "standard", 0.5));
  EXPECT_FALSE(is_inside(floats({1, 10}), floats({1.5F, 10}), "max=1e-2", 0.5));
  EXPECT_TRUE(is_inside(bytes({1, 10}), bytes({3, 10}), "standard", 2));
  EXPECT_FALSE(is_inside(bytes({1, 10}), bytes({4, 10}), "standard", 2));
}

}  // namespace
}  // namespace collage
