// The small evaluator of shape arithmetic, one node at a time.
#include "onnx/fold/fold_operators.h"

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <limits>
#include <map>

#include "onnx/fold/fold.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using Ints = std::vector<std::int64_t>;

/// A node as text, for example "y = Gather<axis = 0>(a, b)".
::onnx::NodeProto node_of_text(const std::string& text) {
  ::onnx::NodeProto node;
  ::onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(node);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << " in " << text;
  return node;
}

SmallValue ints(Ints dims, Ints values, int type = ::onnx::TensorProto::INT64) {
  return {.type = type, .dims = std::move(dims), .ints = std::move(values), .floats = {}};
}
SmallValue floats(Ints dims, std::vector<double> values) {
  return {.type = ::onnx::TensorProto::FLOAT, .dims = std::move(dims), .ints = {}, .floats = std::move(values)};
}
SmallValue bools(Ints dims, Ints values) { return ints(std::move(dims), std::move(values), ::onnx::TensorProto::BOOL); }

/// Folds a node whose inputs a, b, c... are known; x has the static shape [2, 3, 4].
std::optional<std::vector<SmallValue>> fold(const std::string& text, const std::map<std::string, SmallValue>& known) {
  const auto node = node_of_text(text);
  std::vector<const SmallValue*> inputs;
  for (const auto& name : node.input()) {
    const auto found = known.find(name);
    inputs.push_back(found == known.end() ? nullptr : &found->second);
  }
  return fold_node({.node = node, .inputs = inputs, .shape_of = [](const std::string& name) {
                      return name == "x" ? std::optional<Ints>({2, 3, 4}) : std::nullopt;
                    }});
}

void expect_ints(const std::string& text, const std::map<std::string, SmallValue>& known, const Ints& dims,
                 const Ints& values) {
  const auto result = fold(text, known);
  ASSERT_TRUE(result) << text;
  EXPECT_EQ(result->front().dims, dims) << text;
  EXPECT_EQ(result->front().ints, values) << text;
}

TEST(Fold, ShapesAndSizes) {
  expect_ints("y = Shape(x)", {}, {3}, {2, 3, 4});
  expect_ints("y = Shape<start = 1, end = -1>(x)", {}, {1}, {3});
  expect_ints("y = Shape<start = 2, end = 1>(x)", {}, {0}, {});
  expect_ints("y = Size(x)", {}, {}, {24});
  EXPECT_FALSE(fold("y = Shape(dynamic)", {}));
}

TEST(Fold, Movement) {
  const SmallValue grid = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_ints("y = Gather<axis = 1>(a, b)", {{"a", grid}, {"b", ints({2}, {-1, 0})}}, {2, 2}, {3, 1, 6, 4});
  expect_ints("y = Gather(a, b)", {{"a", ints({3}, {7, 8, 9})}, {"b", ints({}, {1})}}, {}, {8});
  EXPECT_FALSE(fold("y = Gather(a, b)", {{"a", ints({3}, {7, 8, 9})}, {"b", ints({}, {3})}}));
  expect_ints("y = Concat<axis = 1>(a, a)", {{"a", grid}}, {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expect_ints("y = Reshape(a, b)", {{"a", grid}, {"b", ints({2}, {0, -1})}}, {2, 3}, grid.ints);
  EXPECT_FALSE(fold("y = Reshape(a, b)", {{"a", grid}, {"b", ints({1}, {5})}}));
  EXPECT_FALSE(fold("y = Reshape(a, b)", {{"a", grid}, {"b", ints({2}, {-1, -1})}}));
  expect_ints("y = Squeeze(a)", {{"a", ints({1, 2, 1}, {5, 6})}}, {2}, {5, 6});
  expect_ints("y = Squeeze(a, b)", {{"a", ints({1, 2, 1}, {5, 6})}, {"b", ints({1}, {-1})}}, {1, 2}, {5, 6});
  expect_ints("y = Unsqueeze(a, b)", {{"a", ints({2}, {5, 6})}, {"b", ints({2}, {0, -1})}}, {1, 2, 1}, {5, 6});
  EXPECT_FALSE(fold("y = Unsqueeze(a, b)", {{"a", ints({2}, {5, 6})}, {"b", ints({2}, {0, 0})}}));
  expect_ints("y = Transpose(a)", {{"a", grid}}, {3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_FALSE(fold("y = Transpose<perm = [0, 0]>(a)", {{"a", grid}}));
  expect_ints("y = Tile(a, b)", {{"a", ints({2}, {1, 2})}, {"b", ints({1}, {2})}}, {4}, {1, 2, 1, 2});
  expect_ints("y = Expand(a, b)", {{"a", ints({2, 1}, {1, 2})}, {"b", ints({1}, {2})}}, {2, 2}, {1, 1, 2, 2});
  expect_ints("y = NonZero(a)", {{"a", ints({2, 2}, {0, 1, 2, 0})}}, {2, 2}, {0, 1, 1, 0});
  expect_ints("y = ConstantOfShape<value = int64[1] {7}>(a)", {{"a", ints({1}, {2})}}, {2}, {7, 7});
}

TEST(Fold, Slices) {
  const SmallValue row = ints({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step, const Ints& expected) {
    expect_ints("y = Slice(a, s, e, z, t)",
                {{"a", row},
                 {"s", ints({1}, {start})},
                 {"e", ints({1}, {end})},
                 {"z", ints({1}, {0})},
                 {"t", ints({1}, {step})}},
                {static_cast<std::int64_t>(expected.size())}, expected);
  };
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  slice(1, 3, 1, {1, 2});
  slice(-2, kFar, 1, {3, 4});
  slice(0, kFar, 2, {0, 2, 4});
  slice(-1, -kFar, -1, {4, 3, 2, 1, 0});
  slice(-1, std::numeric_limits<std::int64_t>::min(), -2, {4, 2, 0});
  slice(4, 1, 1, {});
  EXPECT_FALSE(
      fold("y = Slice(a, s, e, z, t)",
           {{"a", row}, {"s", ints({1}, {0})}, {"e", ints({1}, {3})}, {"z", ints({1}, {0})}, {"t", ints({1}, {0})}}));
}

TEST(Fold, SplitsGiveEveryOutput) {
  const auto parts = fold("y, z = Split<num_outputs = 2>(a)", {{"a", ints({5}, {0, 1, 2, 3, 4})}});
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ((*parts)[0].ints, (Ints{0, 1, 2}));
  EXPECT_EQ((*parts)[1].ints, (Ints{3, 4}));
  EXPECT_FALSE(fold("y, z = Split(a, b)", {{"a", ints({5}, {0, 1, 2, 3, 4})}, {"b", ints({2}, {2, 2})}}));
}

TEST(Fold, IntegerArithmetic) {
  const auto both = [](Ints a, Ints b) {
    return std::map<std::string, SmallValue>{{"a", ints({static_cast<std::int64_t>(a.size())}, a)},
                                             {"b", ints({static_cast<std::int64_t>(b.size())}, b)}};
  };
  expect_ints("y = Add(a, b)", both({1, 2}, {10}), {2}, {11, 12});
  expect_ints("y = Div(a, b)", both({7, -7}, {2, 2}), {2}, {3, -3});
  expect_ints("y = Mod(a, b)", both({7, -7, 7}, {3, 3, -3}), {3}, {1, 2, -2});
  EXPECT_FALSE(fold("y = Div(a, b)", both({1}, {0})));
  EXPECT_FALSE(fold("y = Div(a, b)", both({std::numeric_limits<std::int64_t>::min()}, {-1})));
  expect_ints("y = Add(a, b)", both({std::numeric_limits<std::int64_t>::max()}, {1}), {1},
              {std::numeric_limits<std::int64_t>::min()});
  expect_ints("y = Max(a, b)", both({1, 5}, {3, 3}), {2}, {3, 5});
  expect_ints("y = ReduceProd<keepdims = 0>(a)", both({2, 3, 4}, {}), {}, {24});
  expect_ints("y = Neg(a)", both({1, -2}, {}), {2}, {-1, 2});
  expect_ints(
      "y = Mul(a, b)",
      {{"a", ints({1}, {65536}, ::onnx::TensorProto::INT32)}, {"b", ints({1}, {65536}, ::onnx::TensorProto::INT32)}},
      {1}, {0});
  EXPECT_FALSE(fold("y = Add(a, b)", both({1, 2}, {1, 2, 3})));
  EXPECT_FALSE(fold("y = Add(a, unknown)", both({1, 2}, {1})));
}

TEST(Fold, ComparisonsAndChoices) {
  expect_ints("y = Equal(a, b)", {{"a", ints({2}, {1, 2})}, {"b", ints({}, {2})}}, {2}, {0, 1});
  expect_ints("y = Less(a, b)", {{"a", floats({2}, {1, 3})}, {"b", floats({}, {2})}}, {2}, {1, 0});
  expect_ints("y = And(a, b)", {{"a", bools({2}, {1, 1})}, {"b", bools({2}, {0, 1})}}, {2}, {0, 1});
  expect_ints("y = Not(a)", {{"a", bools({2}, {0, 1})}}, {2}, {1, 0});
  expect_ints("y = Where(c, a, b)", {{"c", bools({2}, {1, 0})}, {"a", ints({2}, {1, 2})}, {"b", ints({}, {9})}}, {2},
              {1, 9});
}

TEST(Fold, RangesAndCasts) {
  const auto range = [](std::int64_t s, std::int64_t l, std::int64_t d) {
    return std::map<std::string, SmallValue>{{"s", ints({}, {s})}, {"l", ints({}, {l})}, {"d", ints({}, {d})}};
  };
  expect_ints("y = Range(s, l, d)", range(0, 5, 2), {3}, {0, 2, 4});
  expect_ints("y = Range(s, l, d)", range(3, 0, -1), {3}, {3, 2, 1});
  expect_ints("y = Range(s, l, d)", range(3, 0, 1), {0}, {});
  EXPECT_FALSE(fold("y = Range(s, l, d)", range(0, 5, 0)));
  EXPECT_FALSE(fold("y = Range(s, l, d)", range(0, std::numeric_limits<std::int64_t>::max(), 1)));
  expect_ints("y = Cast<to = 7>(a)", {{"a", floats({2}, {2.9, -2.9})}}, {2}, {2, -2});
  EXPECT_FALSE(fold("y = Cast<to = 6>(a)", {{"a", floats({1}, {3e9})}}));
  const auto rounded = fold("y = Cast<to = 1>(a)", {{"a", ints({1}, {16777217})}});
  ASSERT_TRUE(rounded);
  EXPECT_EQ(rounded->front().floats, std::vector<double>{16777216.0});
}

TEST(Fold, StopsAtTheLimitOfSmallValues) {
  EXPECT_TRUE(fold("y = ConstantOfShape(a)", {{"a", ints({1}, {1024})}}));
  EXPECT_FALSE(fold("y = ConstantOfShape(a)", {{"a", ints({1}, {1025})}}));
  EXPECT_FALSE(fold("y = ConstantOfShape(a)", {{"a", ints({2}, {1 << 20, 1 << 20})}}));
}

TEST(Fold, KeepsNodesThatMakeTheGraphsOutputs) {
  const Graph graph = imported_graph(opset_model(13, "g (float[2, 3] x) => (int64[2] y) { y = Shape(x) }"));
  EXPECT_EQ(operators_of(graph), std::vector<std::string>{"Shape"});
}

}  // namespace
}  // namespace collage::testing
