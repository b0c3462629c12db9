#include <gtest/gtest.h>

#include <functional>

#include "ir/graph.h"
#include "tests/support/random_graph.h"

namespace collage {
namespace {

Graph sample() {
  auto graph = parse_graph(R"(graph g(%x: f32[2], %c: bool[]) -> (%z) {
    constant %w = f32[2]{1.0,2.0}
    %y: f32[2] = Add(%x, %w) {alpha=1.0, beta=2.0} "add"
    %z: f32[2] = If(%c) captures(%y) {then_branch=graph then() -> (%y) { capture %y: f32[2] }} "if"
  })");
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

/// The body of the sample's If, to be changed.
void change_body(Graph& graph, const std::function<void(Graph&)>& change) {
  Graph body = *bodies_of(graph.nodes[1])[0];
  change(body);
  graph.nodes[1].attributes[0].value = Body{std::make_shared<const Graph>(std::move(body))};
}

struct Breakage {
  const char* name;
  const char* code;
  const char* where;
  std::function<void(Graph&)> apply;
};

class VerifyBreakage : public testing::TestWithParam<Breakage> {};

TEST_P(VerifyBreakage, IsReportedWhereItIs) {
  Graph graph = sample();
  GetParam().apply(graph);
  const auto result = verify(graph);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, GetParam().code);
  EXPECT_EQ(result.error().where, GetParam().where);
}

// Values of the sample: 0 x, 1 c, 2 w, 3 y, 4 z.
const std::vector<Breakage> kBreakages = {
    {"UnnamedValue", "ir/no-name", "value", [](Graph& g) { g.values[3].name.clear(); }},
    {"RepeatedValueName", "ir/repeated-name", "x", [](Graph& g) { g.values[3].name = "x"; }},
    {"UnnamedNode", "ir/no-name", "Add", [](Graph& g) { g.nodes[0].name.clear(); }},
    {"RepeatedNodeName", "ir/repeated-name", "add", [](Graph& g) { g.nodes[1].name = "add"; }},
    {"NoOperator", "ir/no-operator", "add", [](Graph& g) { g.nodes[0].op_type.clear(); }},
    {"InputIdOutOfRange", "ir/bad-id", "add", [](Graph& g) { g.nodes[0].inputs[0] = ValueId{5}; }},
    {"OutputIdOutOfRange", "ir/bad-id", "add", [](Graph& g) { g.nodes[0].outputs[0] = ValueId{5}; }},
    {"GraphInputOmitted", "ir/bad-id", "input of graph g", [](Graph& g) { g.inputs[0] = ValueId{}; }},
    {"GraphOutputOutOfRange", "ir/bad-id", "output of graph g", [](Graph& g) { g.outputs[0] = ValueId{9}; }},
    {"CaptureOmitted", "ir/bad-id", "if", [](Graph& g) { g.nodes[1].captures[0] = ValueId{}; }},
    {"TwoProducers", "ir/made-twice", "y", [](Graph& g) { g.nodes[1].outputs[0] = ValueId{3}; }},
    {"SameOutputTwice", "ir/made-twice", "y",
     [](Graph& g) {
       g.nodes[0].outputs = {ValueId{3}, ValueId{3}};
     }},
    {"InputMade", "ir/made-twice", "x", [](Graph& g) { g.nodes[0].outputs[0] = ValueId{0}; }},
    {"InputTwice", "ir/made-twice", "x", [](Graph& g) { g.inputs[1] = ValueId{0}; }},
    {"ConstantMade", "ir/constant-made", "w", [](Graph& g) { g.nodes[0].outputs[0] = ValueId{2}; }},
    {"ConstantInput", "ir/constant-made", "w", [](Graph& g) { g.inputs[0] = ValueId{2}; }},
    {"OutOfOrder", "ir/undefined-value", "if", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }},
    {"SelfLoop", "ir/undefined-value", "add", [](Graph& g) { g.nodes[0].inputs[0] = ValueId{3}; }},
    {"OutputNobodyMakes", "ir/undefined-value", "z", [](Graph& g) { g.nodes[1].outputs.clear(); }},
    {"UnsortedAttributes", "ir/unsorted-attributes", "add",
     [](Graph& g) { std::swap(g.nodes[0].attributes[0], g.nodes[0].attributes[1]); }},
    {"RepeatedAttribute", "ir/unsorted-attributes", "add", [](Graph& g) { g.nodes[0].attributes[0].name = "beta"; }},
    {"ConstantOfOtherType", "ir/bad-tensor", "w", [](Graph& g) { g.values[2].type.element = ElementType::kInt32; }},
    {"ConstantTooShort", "ir/bad-tensor", "w",
     [](Graph& g) { g.values[2].constant->data = g.values[2].constant->data.slice(0, 4); }},
    {"NegativeExtent", "ir/bad-tensor", "w", [](Graph& g) { g.values[2].constant->extents = {-2}; }},
    {"UntypedTensor", "ir/bad-tensor", "add.alpha", [](Graph& g) { g.nodes[0].attributes[0].value = Tensor{}; }},
    {"StringsMissing", "ir/bad-tensor", "add.alpha",
     [](Graph& g) {
       g.nodes[0].attributes[0].value =
           std::vector<Tensor>{Tensor{.type = ElementType::kString, .extents = {1}, .data = {}, .strings = {}}};
     }},
    {"EmptyBody", "ir/no-body", "if.then_branch", [](Graph& g) { g.nodes[1].attributes[0].value = Body{}; }},
    {"CaptureNobodyReads", "ir/bad-capture", "if", [](Graph& g) { g.nodes[1].captures.push_back(ValueId{0}); }},
    {"CaptureTwice", "ir/bad-capture", "if", [](Graph& g) { g.nodes[1].captures.push_back(ValueId{3}); }},
    {"CaptureNotDeclared", "ir/bad-capture", "if", [](Graph& g) { g.nodes[1].captures.clear(); }},
    {"CaptureOutsideBodies", "ir/bad-capture", "g", [](Graph& g) { g.captures = {ValueId{4}}; }},
    {"BrokenBody", "ir/undefined-value", "other",
     [](Graph& g) { change_body(g, [](Graph& body) { body.outputs = {add_value(body, "other", {})}; }); }},
};

INSTANTIATE_TEST_SUITE_P(Verify, VerifyBreakage, testing::ValuesIn(kBreakages),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Verify, AcceptsWhatTheHeaderAllows) {
  const auto result = verify(sample());
  EXPECT_TRUE(result) << to_string(result.error());
  EXPECT_TRUE(verify(Graph{}));
}

TEST(Verify, AcceptsInputsAndConstantsAsOutputs) {
  const auto graph = parse_graph("graph(%x) -> (%x, %c, %c) { constant %c = i64[]{1} }");
  ASSERT_TRUE(graph);
  EXPECT_TRUE(verify(*graph));
}

TEST(Verify, AcceptsRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto result = verify(random_graph(seed));
    ASSERT_TRUE(result) << "seed " << seed << ": " << to_string(result.error());
  }
}

}  // namespace
}  // namespace collage
