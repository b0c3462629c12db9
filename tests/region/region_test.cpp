#include "region/region.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_graph.h"

namespace collage {
namespace {

Graph parsed(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

NodeSet nodes_of(const Graph& graph, std::initializer_list<std::size_t> members) {
  NodeSet nodes(graph.nodes.size());
  for (const std::size_t member : members) nodes.insert(member);
  return nodes;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(graph.value(id).name);
  return names;
}

using Names = std::vector<std::string>;

// 0 conv, 1 relu, 2 neg, 3 add, 4 if (captures neg's result and a constant)
const char* const kSample = R"(graph g(%x: f32[1,2], %c: bool[]) -> (%r, %s) {
  opset ai.onnx 26
  constant %w = f32[2]{1.0,2.0}
  constant %k = i64[1]{3}
  %y: f32[1,2] = Conv(%x, %w, _, %w) "conv"
  %r: f32[1,2] = Relu(%y) "relu"
  %n: f32[1,2], %unread = Neg(%y, %x) "neg"
  %a: f32[1,2] = Add(%r, %n) "add"
  %s: f32[N] = If(%c) captures(%n, %k) {then_branch=graph(
    ) -> (%n) { capture %n capture %k }} "if"
})";

TEST(Region, ListsItsBorderInOrder) {
  const Graph graph = parsed(kSample);
  const Uses uses = uses_of(graph);
  const Region region = make_region(graph, uses, nodes_of(graph, {0, 1, 2}));
  EXPECT_EQ(names_of(graph, region.inputs), (Names{"x"}));
  EXPECT_EQ(names_of(graph, region.constants), (Names{"w"}));
  EXPECT_EQ(names_of(graph, region.outputs), (Names{"r", "n"}));
}

TEST(Region, ReadsWhatItsBodiesCapture) {
  const Graph graph = parsed(kSample);
  const Uses uses = uses_of(graph);
  const Region region = make_region(graph, uses, nodes_of(graph, {4}));
  EXPECT_EQ(names_of(graph, region.inputs), (Names{"c", "n"}));
  EXPECT_EQ(names_of(graph, region.constants), (Names{"k"}));
  EXPECT_EQ(names_of(graph, region.outputs), (Names{"s"}));
  EXPECT_EQ(names_of(graph, make_region(graph, uses, nodes_of(graph, {2, 4})).outputs), (Names{"n", "s"}));
}

TEST(Region, GivesWhatOnlyARepeatedNodeOfItReads) {
  const Graph graph = parsed(kSample);
  const Uses uses = uses_of(graph);
  const Region region = make_region(graph, uses, nodes_of(graph, {0, 1}), nodes_of(graph, {1}));
  EXPECT_EQ(names_of(graph, region.outputs), (Names{"y"})) << "another step computes relu, too";
}

TEST(Region, WholeRegionGivesTheGraphsOutputsOnly) {
  const Graph graph = parsed(kSample);
  const Region region = whole_region(graph, uses_of(graph));
  EXPECT_EQ(region.nodes.count(), 5U);
  EXPECT_EQ(names_of(graph, region.inputs), (Names{"x", "c"}));
  EXPECT_EQ(names_of(graph, region.outputs), (Names{"r", "s"}));
}

TEST(Region, EmptySetHasNoBorder) {
  const Graph graph = parsed(kSample);
  const Region region = make_region(graph, uses_of(graph), nodes_of(graph, {}));
  EXPECT_TRUE(region.inputs.empty());
  EXPECT_TRUE(region.outputs.empty());
}

TEST(Region, UnknownShapesMayLeaveAsGraphOutputsOnly) {
  const Graph graph = parsed(R"(graph g(%x: f32[4], %d: f32[N]) -> (%u, %t) {
    %u: i64[?] = NonZero(%x) "nonzero"
    %t: i64[4] = Fixed(%u) "fixed"
    %v: i64[?] = NonZero(%x) "last"
    %w: f32[4] = Use(%d) "use"
    %z = Use(%v) "end"
  })");
  const Uses uses = uses_of(graph);
  const auto is_static = [&](std::initializer_list<std::size_t> members) {
    return has_static_border(graph, uses, make_region(graph, uses, nodes_of(graph, members)));
  };
  EXPECT_FALSE(is_static({0}));
  EXPECT_FALSE(is_static({1}));
  EXPECT_TRUE(is_static({0, 1}));
  EXPECT_FALSE(is_static({2}));
  EXPECT_TRUE(is_static({2, 4}));
  EXPECT_FALSE(is_static({3}));
}

TEST(Reachability, FollowsPathsAndCaptures) {
  const Graph graph = parsed(kSample);
  const Reachability reachability(graph, uses_of(graph));
  EXPECT_EQ(reachability.descendants(0).members(), (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_EQ(reachability.descendants(2).members(), (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(reachability.ancestors(4).members(), (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(reachability.ancestors(0).empty());
}

TEST(Reachability, SetsThatAPathLeavesAndReentersAreNotConvex) {
  const Graph graph = parsed(kSample);
  const Reachability reachability(graph, uses_of(graph));
  EXPECT_TRUE(reachability.is_convex(nodes_of(graph, {})));
  EXPECT_TRUE(reachability.is_convex(nodes_of(graph, {1, 2})));
  EXPECT_TRUE(reachability.is_convex(nodes_of(graph, {0, 1, 2, 3})));
  EXPECT_FALSE(reachability.is_convex(nodes_of(graph, {0, 1, 3})));
  EXPECT_FALSE(reachability.is_convex(nodes_of(graph, {0, 4})));
}

bool has_path(const Graph& graph, const Uses& uses, std::size_t from, std::size_t to) {
  for (const ValueId id : graph.nodes[from].outputs) {
    if (!id.valid()) continue;
    for (const NodeId reader : uses.consumers[id.index])
      if (reader.index == to || has_path(graph, uses, reader.index, to)) return true;
  }
  return false;
}

TEST(Reachability, AgreesWithWalkingThePaths) {
  Dice dice(7);
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = random_graph(seed, {.max_nodes = 12, .max_body_depth = 1});
    const Uses uses = uses_of(graph);
    const Reachability reachability(graph, uses);
    const std::size_t count = graph.nodes.size();
    NodeSet nodes(count);
    for (std::size_t n = 0; n < count; ++n)
      if (dice.one_in(2)) nodes.insert(n);
    bool convex = true;
    for (std::size_t from = 0; from < count; ++from)
      for (std::size_t to = 0; to < count; ++to) {
        const bool path = has_path(graph, uses, from, to);
        EXPECT_EQ(reachability.descendants(from).contains(to), path);
        EXPECT_EQ(reachability.ancestors(to).contains(from), path);
        for (std::size_t end = 0; end < count; ++end)
          if (path && nodes.contains(from) && !nodes.contains(to) && nodes.contains(end))
            convex = convex && !has_path(graph, uses, to, end);
      }
    EXPECT_EQ(reachability.is_convex(nodes), convex);
  }
}

TEST(Reachability, HandlesLongChains) {
  Graph graph;
  ValueId last = add_value(graph, "x", {});
  graph.inputs = {last};
  for (int n = 0; n < 2500; ++n) {
    const ValueId next = add_value(graph, "v" + std::to_string(n + 1), {});
    add_node(graph, Node{.name = "n" + std::to_string(n), .op_type = "Relu", .inputs = {last}, .outputs = {next}});
    last = next;
  }
  graph.outputs = {last};
  const Reachability reachability(graph, uses_of(graph));
  EXPECT_EQ(reachability.descendants(0).count(), 2499U);
  EXPECT_FALSE(reachability.is_convex(nodes_of(graph, {0, 2499})));
  EXPECT_TRUE(reachability.is_convex(whole_region(graph, uses_of(graph)).nodes));
}

TEST(Extract, MakesAGraphOfTheRegion) {
  const Graph graph = parsed(kSample);
  const Region region = make_region(graph, uses_of(graph), nodes_of(graph, {2, 4}));
  const Graph part = extract(graph, region);
  EXPECT_EQ(to_text(part), R"(graph g(%y: f32[1,2], %x: f32[1,2], %c: bool[]) -> (%n, %s) {
  opset ai.onnx 26
  constant %k = i64[1]{3}
  %n: f32[1,2], %unread = Neg(%y, %x) "neg"
  %s: f32[N] = If(%c) captures(%n, %k) {then_branch=graph() -> (%n) {
      capture %n
      capture %k
    }} "if"
}
)");
}

TEST(Extract, SharesConstants) {
  const Graph graph = parsed(kSample);
  const Graph part = extract(graph, make_region(graph, uses_of(graph), nodes_of(graph, {0})));
  const auto find = [](const Graph& where) {
    for (const Value& value : where.values)
      if (value.name == "w") return value.constant->data.data();
    return static_cast<const std::byte*>(nullptr);
  };
  EXPECT_EQ(find(part), find(graph));
}

/// A random set of nodes of a random graph.
Region random_region(const Graph& graph, Dice& dice) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (dice.one_in(2)) nodes.insert(n);
  return make_region(graph, uses_of(graph), std::move(nodes));
}

TEST(Extract, GivesNormalValidGraphsWithTheRegionsBorder) {
  Dice dice(9);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = random_graph(seed);
    const Region region = random_region(graph, dice);
    const Graph part = extract(graph, region);
    const auto verified = verify(part);
    ASSERT_TRUE(verified) << to_string(verified.error());
    EXPECT_EQ(names_of(part, part.inputs), names_of(graph, region.inputs));
    EXPECT_EQ(names_of(part, part.outputs), names_of(graph, region.outputs));
    EXPECT_EQ(part.nodes.size(), region.nodes.count());
    const Region whole = whole_region(part, uses_of(part));
    EXPECT_EQ(names_of(part, whole.inputs), names_of(graph, region.inputs));
    EXPECT_EQ(names_of(part, whole.outputs), names_of(graph, region.outputs));
  }
}

TEST(StructureKey, IsTheSameForTheRegionAndItsExtract) {
  Dice dice(13);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = random_graph(seed);
    const Region region = random_region(graph, dice);
    const Graph part = extract(graph, region);
    EXPECT_EQ(structure_key(graph, region), structure_key(part, whole_region(part, uses_of(part))));
  }
}

std::string key_of(std::string_view text) {
  const Graph graph = parsed(text);
  return structure_key(graph, whole_region(graph, uses_of(graph)));
}

constexpr const char* kAdd =
    "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, %b) {k=1} }";

TEST(StructureKey, IgnoresNamesNumberingAndUnusedOperatorSets) {
  EXPECT_EQ(key_of(kAdd), key_of(R"(graph other(%unread: f32[9], %p: f32[2], %q: f32[2]) -> (%r) {
    opset ai.onnx 26, other.domain 3
    constant %unused = i64[1]{1}
    %r: f32[2] = Add(%p, %q) {k=1} "some name"
    order %r, %q, %p, %unused, %unread
  })"));
}

TEST(StructureKey, IsTheSameAnywhereInAGraph) {
  const Graph graph = parsed(R"(graph(%a: f32[2]) -> (%d) {
    %b: f32[2] = Relu(%a)
    %c: f32[2] = Relu(%b)
    %d: f32[2] = Relu(%c)
  })");
  const Uses uses = uses_of(graph);
  const std::string first = structure_key(graph, make_region(graph, uses, nodes_of(graph, {0})));
  for (const std::size_t n : {1U, 2U})
    EXPECT_EQ(structure_key(graph, make_region(graph, uses, nodes_of(graph, {n}))), first);
  EXPECT_NE(structure_key(graph, make_region(graph, uses, nodes_of(graph, {0, 1}))), first);
}

TEST(StructureKey, TellsApartWhatMatters) {
  std::set<std::string> keys;
  const std::vector<const char*> texts = {
      kAdd,
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, %a) {k=1} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, %b) {k=2} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, %b) {k=1.0} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Sub(%a, %b) {k=1} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = d::Add(%a, %b) {k=1} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 25 %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[3], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f16[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[1] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2], %z = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2], %b: f32[2]) -> (%y) { opset ai.onnx 26 %y: f32[2] = Add(%a, _, %b) {k=1} }",
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 constant %b = f32[2]{1.0,2.0} %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 constant %b = i64[2]{1,2} %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 constant %b = i64[2]{1,3} %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 constant %b = f32[1]{1.0} %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 constant %b = f32[1]{2.0} %y: f32[2] = Add(%a, %b) {k=1} }",
      "graph(%a: f32[2]) -> (%y) { opset ai.onnx 26 constant %b = f32[1,2]{1.0,2.0} %y: f32[2] = Add(%a, %b) {k=1} }",
  };
  for (const char* text : texts) EXPECT_TRUE(keys.insert(key_of(text)).second) << text;
}

TEST(StructureKey, IgnoresWhatWeightsContain) {
  EXPECT_EQ(key_of("graph(%a: f32[2]) -> (%y) { constant %b = f32[2]{1.0,2.0} %y: f32[2] = Add(%a, %b) }"),
            key_of("graph(%a: f32[2]) -> (%y) { constant %b = f32[2]{1.0,3.0} %y: f32[2] = Add(%a, %b) }"));
  const auto convolution = [](const char* weights, const char* bias) {
    return key_of(std::string("graph(%x: f32[1,1,3,3]) -> (%y) { constant %w = f32[2,1,1,1]") + weights +
                  " constant %b = f32[2]" + bias + " %y: f32[1,2,3,3] = Conv(%x, %w, %b) }");
  };
  EXPECT_EQ(convolution("{1.0,2.0}", "{3.0,4.0}"), convolution("{5.0,6.0}", "{7.0,8.0}"));
}

TEST(StructureKey, LooksIntoWeightsThatAreAlsoReadOtherwise) {
  const auto scaled = [](const char* scales) {
    return key_of(std::string("graph(%x: f32[1,4]) -> (%y, %z) { constant %s = f32[2]") + scales +
                  " constant %m = f32[1,2]{1.0,1.0} %y: f32[1,2] = Add(%m, %s) %z = Resize(%x, _, %s) }");
  };
  EXPECT_NE(scaled("{1.0,2.0}"), scaled("{1.0,3.0}"));
}

std::string key_with_constant(std::size_t size, float last) {
  std::vector<float> values(size, 1.0F);
  values.back() = last;
  Graph graph;
  graph.inputs = {add_value(graph, "x", *parse_value_type("f32[1]"))};
  const Extents extents = {static_cast<std::int64_t>(size)};
  const ValueId constant = add_constant(graph, "c", make_tensor<float>(ElementType::kFloat32, extents, values));
  const ValueId y = add_value(graph, "y", *parse_value_type("f32[1]"));
  add_node(graph, Node{.op_type = "Op",
                       .inputs = {graph.inputs[0], constant},
                       .outputs = {y},
                       .attributes = {{"value", *graph.value(constant).constant}}});
  graph.outputs = {y};
  return structure_key(graph, whole_region(graph, uses_of(graph)));
}

TEST(StructureKey, LooksIntoConstantsOfAtMost64Elements) {
  EXPECT_NE(key_with_constant(64, 1.0F), key_with_constant(64, 2.0F));
  EXPECT_EQ(key_with_constant(65, 1.0F), key_with_constant(65, 2.0F));
  EXPECT_NE(key_with_constant(65, 1.0F), key_with_constant(66, 1.0F));
}

TEST(StructureKey, NumbersDimensionSymbols) {
  const auto with = [](const std::string& a, const std::string& b) {
    return key_of("graph(%a: f32[" + a + "], %b: f32[" + b + "]) -> (%y) { %y: f32[" + a + "] = Add(%a, %b) }");
  };
  EXPECT_EQ(with("N", "N"), with("M", "M"));
  EXPECT_EQ(with("N", "M"), with("M", "N"));
  EXPECT_NE(with("N", "N"), with("N", "M"));
  EXPECT_EQ(with("N=4", "4"), with("4", "4"));
}

TEST(StructureKey, LooksIntoBodies) {
  const auto with = [](const std::string& captures, const std::string& branch) {
    return key_of("graph(%c: bool[], %a: f32[1], %b: f32[1]) -> (%y) { %z = Two(%a, %b) %y: f32[1] = If(%c) captures(" +
                  captures + ") {then_branch=" + branch + "} }");
  };
  const std::string relu_a = with("%a", "graph() -> (%r) { capture %a %r = Relu(%a) }");
  EXPECT_EQ(relu_a, with("%a", "graph n() -> (%other) { capture %a %other = Relu(%a) \"n\" }"));
  EXPECT_NE(relu_a, with("%a", "graph() -> (%r) { capture %a %r = Neg(%a) }"));
  EXPECT_NE(relu_a, with("%b", "graph() -> (%r) { capture %b %r = Relu(%b) }"));
  EXPECT_NE(with("%a, %b", "graph() -> (%r) { capture %a capture %b %r = Sub(%a, %b) }"),
            with("%a, %b", "graph() -> (%r) { capture %a capture %b %r = Sub(%b, %a) }"));
}

}  // namespace
}  // namespace collage
