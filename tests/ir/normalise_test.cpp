#include <gtest/gtest.h>

#include <algorithm>

#include "ir/graph.h"
#include "tests/ir/parsed_graph.h"
#include "tests/support/random_graph.h"

namespace collage {
namespace {

std::string normal_text(const Graph& graph) {
  const auto result = normalised(graph);
  return result ? to_text(*result) : to_string(result.error());
}

TEST(Normalise, SortsNodesAndKeepsIndependentOnesInPlace) {
  const Graph graph = parsed(R"(graph g(%x) -> (%d) {
    %d = Add(%c, %b) "d"
    %c = Relu(%a) "c"
    %e = Relu(%x) "e"
    %a = Relu(%x) "a"
    %b = Relu(%a) "b"
  })");
  EXPECT_EQ(normal_text(graph), R"(graph g(%x) -> (%d) {
  %e = Relu(%x) "e"
  %a = Relu(%x) "a"
  %c = Relu(%a) "c"
  %b = Relu(%a) "b"
  %d = Add(%c, %b) "d"
}
)");
}

TEST(Normalise, OrdersBodiesAfterWhatTheyCapture) {
  const Graph graph = parsed(R"(graph g(%c) -> (%y) {
    %y = If(%c) captures(%a) {then_branch=graph() -> (%a) { capture %a }} "if"
    %a = Relu(%c) "a"
  })");
  const auto result = normalised(graph);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->nodes[0].name, "a");
  EXPECT_TRUE(verify(*result));
}

TEST(Normalise, DropsWhatNobodyRefersToButKeepsInputs) {
  const Graph graph = parsed(R"(graph g(%x, %unread) -> (%y) {
    constant %unused = i64[1]{1}
    constant %used = i64[1]{2}
    value %loose
    %y, %unasked = Two(%x, %used) "two"
  })");
  EXPECT_EQ(normal_text(graph), R"(graph g(%x, %unread) -> (%y) {
  constant %used = i64[1]{2}
  %y, %unasked = Two(%x, %used) "two"
}
)");
}

TEST(Normalise, NumbersConstantsByFirstUse) {
  const Graph graph = parsed(R"(graph g(%x) -> (%y, %only) {
    constant %second = i64[1]{2}
    constant %only = i64[1]{3}
    constant %first = i64[1]{1}
    %y = Two(%first, %second) "two"
  })");
  const auto result = normalised(graph);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->values[1].name, "first");
  EXPECT_EQ(result->values[2].name, "second");
  EXPECT_EQ(result->values[3].name, "only");
}

TEST(Normalise, NormalisesBodies) {
  const Graph graph = parsed(R"(graph g(%c) -> (%y) {
    %y = If(%c) {then_branch=graph() -> (%b) {
      constant %unused = i64[1]{1}
      %b = Relu(%a) "b"
      %a = Zero() "a"
    }} "if"
  })");
  const auto result = normalised(graph);
  ASSERT_TRUE(result);
  const Graph& body = *bodies_of(result->nodes[0])[0];
  EXPECT_EQ(body.nodes[0].name, "a");
  EXPECT_EQ(body.values.size(), 2U);
}

TEST(Normalise, NamesANodeOnACycle) {
  const Graph graph = parsed(R"(graph g(%x) -> (%b) {
    %s = Relu(%x) "start"
    %a = Add(%s, %b) "a"
    %b = Relu(%a) "b"
  })");
  const auto result = normalised(graph);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "ir/cycle");
  EXPECT_EQ(result.error().where, "a");
}

TEST(Normalise, IsIdempotentAndValid) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto once = normalised(random_graph(seed));
    ASSERT_TRUE(once);
    const auto verified = verify(*once);
    ASSERT_TRUE(verified) << to_string(verified.error());
    EXPECT_EQ(normalised(*once).value(), *once);
  }
}

TEST(Normalise, DoesNotDependOnNumbering) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = random_graph(seed, {.max_body_depth = 0});
    Graph reversed = graph;
    std::reverse(reversed.values.begin(), reversed.values.end());
    const auto flip = [&](std::vector<ValueId>& ids) {
      for (ValueId& id : ids)
        if (id.valid()) id.index = static_cast<std::uint32_t>(graph.values.size()) - 1 - id.index;
    };
    for (auto* ids : {&reversed.inputs, &reversed.outputs}) flip(*ids);
    for (Node& node : reversed.nodes)
      for (auto* ids : {&node.inputs, &node.outputs}) flip(*ids);
    EXPECT_EQ(normalised(graph).value(), normalised(reversed).value());
  }
}

TEST(Normalise, RestoresTheOrderOfShuffledNodes) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph = random_graph(seed);
    std::reverse(graph.nodes.begin(), graph.nodes.end());
    const auto result = normalised(graph);
    ASSERT_TRUE(result);
    EXPECT_TRUE(verify(*result));
    EXPECT_EQ(result->nodes.size(), graph.nodes.size());
  }
}

}  // namespace
}  // namespace collage
