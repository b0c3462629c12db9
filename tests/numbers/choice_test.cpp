#include "numbers/choice.h"

#include "tests/measure/measure_fixture.h"

namespace collage {
namespace {

Tensor indices(const Extents& extents, const std::vector<std::int64_t>& values) {
  return make_tensor<std::int64_t>(ElementType::kInt64, extents, values);
}

/// Two rows of four: in the first, 1 and 3 are equal; in the second, 2 is a little below 0.
const Choice& rows() {
  static const Choice choice{.data = make_tensor<float>(ElementType::kFloat32, {2, 4}, {0, 5, 1, 5, 5, 1, 4.9999F, 4}),
                             .axis = 1};
  return choice;
}

bool passes(const std::vector<std::int64_t>& seen, const std::vector<std::int64_t>& expected,
            const Choice& choice = rows(), const Extents& extents = {2, 1}) {
  return compare_choice(indices(extents, seen), indices(extents, expected), choice, Accuracy::kStandard, false).ok;
}

TEST(Choices, AreJudgedByTheValuesTheyPointAt) {
  EXPECT_TRUE(passes({1, 0}, {1, 0}));
  EXPECT_TRUE(passes({3, 0}, {1, 0})) << "a tie";
  EXPECT_TRUE(passes({1, 2}, {1, 0})) << "a tie within the tolerance";
  EXPECT_FALSE(passes({2, 0}, {1, 0})) << "a smaller value";
  EXPECT_FALSE(passes({1, 3}, {1, 0}));
  EXPECT_FALSE(passes({4, 0}, {1, 0})) << "no index of the row";
  EXPECT_FALSE(passes({-1, 0}, {1, 0}));
  EXPECT_FALSE(passes({0, 0, 0}, {1, 0, 0}, rows(), {3, 1})) << "as many as rows";
}

TEST(Choices, ASecondChoiceOfTheSameElementIsWrong) {
  EXPECT_TRUE(passes({3, 1, 0, 2}, {1, 3, 0, 2}, rows(), {2, 2}));
  EXPECT_FALSE(passes({1, 1, 0, 2}, {1, 3, 0, 2}, rows(), {2, 2}));
}

TEST(Choices, RunAlongTheirAxis) {
  const Choice columns{.data = make_tensor<float>(ElementType::kFloat32, {3, 2}, {1, 9, 1, 2, 0, 9}), .axis = 0};
  EXPECT_TRUE(passes({1, 2}, {0, 0}, columns, {1, 2}));
  EXPECT_FALSE(passes({2, 0}, {0, 0}, columns, {1, 2}));
  EXPECT_FALSE(passes({0, 1}, {0, 0}, columns, {1, 2}));
}

TEST(Choices, BoxesAreJudgedByTheirScores) {
  const Choice scores{
      .data = make_tensor<float>(ElementType::kFloat32, {1, 2, 3}, {0.9F, 0.9F, 0.1F, 0.2F, 0.8F, 0.8F}),
      .kind = ChoiceKind::kBoxes};
  const Extents two = {2, 3};
  EXPECT_TRUE(passes({0, 0, 1, 0, 1, 2}, {0, 0, 0, 0, 1, 1}, scores, two));
  EXPECT_FALSE(passes({0, 0, 2, 0, 1, 2}, {0, 0, 0, 0, 1, 1}, scores, two)) << "a lower score";
  EXPECT_FALSE(passes({0, 1, 1, 0, 1, 2}, {0, 0, 0, 0, 1, 1}, scores, two)) << "another class";
  EXPECT_FALSE(passes({0, 0, 3, 0, 1, 2}, {0, 0, 0, 0, 1, 1}, scores, two)) << "no box";
  EXPECT_FALSE(passes({0, 0, 1, 0, 0, 1}, {0, 0, 0, 0, 0, 1}, scores, two)) << "a box twice";
}

TEST(Choices, AreFoundBehindOperatorsThatKeepTheOrder) {
  Graph graph = test::empty_graph();
  const ValueId x = add_value(graph, "x", test::f32_type({2, 4}));
  graph.inputs = {x};
  const ValueId chosen = add_value(graph, "chosen", ValueType::tensor(ElementType::kInt64, {2, 1}));
  add_node(graph, {.name = "arg",
                   .op_type = "ArgMax",
                   .inputs = {x},
                   .outputs = {chosen},
                   .attributes = {{"axis", std::int64_t{-1}}}});
  const ValueId flat = test::add_op(graph, "Flatten", {chosen}, "flat");
  const ValueId sum = test::add_op(graph, "Add", {flat, flat}, "sum");
  graph.outputs = {flat, sum};
  const Uses uses = uses_of(graph);
  const Region whole = whole_region(graph, uses);
  const auto rule = choice_behind(graph, uses, whole, flat);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->data, x);
  EXPECT_EQ(rule->axis, 1);
  EXPECT_FALSE(choice_behind(graph, uses, whole, sum)) << "computed with";
  EXPECT_FALSE(choice_behind(graph, uses, test::region_of(graph, {1}), flat)) << "chosen elsewhere";
}

}  // namespace
}  // namespace collage
