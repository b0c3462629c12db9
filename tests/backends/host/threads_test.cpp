// Work that is large enough to be shared out gives the same numbers on several threads as on one.
#include "host_fixture.h"

namespace collage {
namespace {

void expect_same_on_threads(const HostCase& under_test) {
  const std::vector<VariantRun> runs = run_all(under_test);
  EXPECT_FALSE(runs.empty());
  for (const VariantRun& run : runs)
    for (const int threads : {2, 3})
      EXPECT_EQ(runner_of(under_test).run(run.variant, run.artifact, threads), run.outputs) << text_of(run.variant);
}

HostCase one_node(const std::string& op, const std::vector<Tensor>& in, const Extents& out,
                  std::vector<Attribute> attributes = {}) {
  HostCase under_test;
  std::vector<ValueId> ids;
  for (const Tensor& tensor : in) ids.push_back(under_test.input(tensor));
  under_test.output(
      under_test.node(op, ids, {ValueType::tensor(ElementType::kFloat32, out)}, std::move(attributes))[0]);
  return under_test;
}

TEST(HostThreads, MoveTheSameElements) {
  using Perm = std::vector<std::int64_t>;
  const Tensor image = random_floats({1, 67, 95, 97});
  expect_same_on_threads(one_node("Transpose", {image}, {1, 95, 97, 67}, {{"perm", Perm{0, 2, 3, 1}}}));
  expect_same_on_threads(
      one_node("Transpose", {random_floats({1, 3, 300, 301})}, {1, 300, 301, 3}, {{"perm", Perm{0, 2, 3, 1}}}));
  expect_same_on_threads(
      one_node("Transpose", {random_floats({1, 300, 301, 3})}, {1, 3, 300, 301}, {{"perm", Perm{0, 3, 1, 2}}}));
  expect_same_on_threads(one_node("Identity", {image}, {1, 67, 95, 97}));
  expect_same_on_threads(one_node("Concat", {image, image}, {1, 134, 95, 97}, {{"axis", std::int64_t{1}}}));
  expect_same_on_threads(one_node("Concat", {image, image}, {1, 67, 95, 194}, {{"axis", std::int64_t{3}}}));
}

TEST(HostThreads, ComputeTheSameNumbers) {
  const Extents extents = {2, 33, 71, 73};
  const Tensor image = random_floats(extents);
  expect_same_on_threads(one_node("Mul", {image, random_floats({33, 1, 1})}, extents));
  expect_same_on_threads(one_node("Add", {image, random_floats({71, 73})}, extents));
  expect_same_on_threads(one_node("Softmax", {image}, extents, {{"axis", std::int64_t{1}}}));
  expect_same_on_threads(one_node("Softmax", {image}, extents));
  expect_same_on_threads(one_node("GlobalAveragePool", {image}, {2, 33, 1, 1}));
  expect_same_on_threads(one_node("LayerNormalization", {image, random_floats({73})}, extents));
}

}  // namespace
}  // namespace collage
