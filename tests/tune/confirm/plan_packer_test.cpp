// Constants that are prepared in several calls and kept in files are those that one call prepares in memory.
#include "tune/confirm/plan_packer.h"

#include <algorithm>

#include "base/file.h"
#include "tests/tune/tune_fixture.h"
#include "tune/confirm/assemble.h"

namespace collage {
namespace {

constexpr std::int64_t kWidth = 64;
constexpr std::size_t kWeightBytes = kWidth * kWidth * sizeof(float);

Tensor weights(std::uint64_t seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kWidth * kWidth; ++i) values.push_back(static_cast<float>((seed * 31 + i) % 97) / 97);
  return make_tensor(ElementType::kFloat32, {kWidth, kWidth}, values);
}

/// Products one after the other; the first and the last have the same weights.
Graph products() {
  Graph graph;
  graph.opsets = {{"", 26}};
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {4, kWidth});
  ValueId last = add_value(graph, "x", type);
  graph.inputs = {last};
  const ValueId first = add_constant(graph, "w0", weights(0));
  const std::vector<ValueId> all = {first, add_constant(graph, "w1", weights(1)), add_constant(graph, "w2", weights(2)),
                                    first};
  for (const ValueId weight : all) {
    Node node;
    node.op_type = "MatMul";
    node.inputs = {last, weight};
    node.outputs = {last = add_value(graph, "", type)};
    add_node(graph, std::move(node));
  }
  graph.outputs = {last};
  return graph;
}

class PlanPackerTest : public ::testing::Test {
 protected:
  /// Every product in oneDNN, between plain ports.
  RealisedPlan plan() {
    const Uses uses = uses_of(graph_);
    Cover cover;
    AssembleRequest request{.graph = &graph_, .cover = &cover, .artifacts = {}, .header = {}};
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
      NodeSet nodes(graph_.nodes.size());
      nodes.insert(node);
      const Region region = make_region(graph_, uses, nodes);
      auto variants = backend().support(graph_, region, {});
      EXPECT_TRUE(variants);
      const auto is_plain = [](const Variant& variant) {
        return variant.input_formats.front().is_plain() && variant.output_formats.front().is_plain();
      };
      const auto plain = std::ranges::find_if(*variants, is_plain);
      EXPECT_NE(plain, variants->end());
      const CompileRequest compile{.graph = &graph_, .region = region, .variant = *plain, .model_bytes = {}};
      auto artifacts = backend().compile({&compile, 1}, {});
      EXPECT_TRUE(artifacts[0]);
      request.artifacts.push_back(*std::move(artifacts[0]));
      cover.steps.push_back({.backend = "onednn", .work = CoverKernel{region, *plain}});
    }
    return assemble(request, registry_).value();
  }
  Backend& backend() { return **registry_.get("onednn"); }

  Registry registry_ = Registry(default_module_folders());
  WorkFolder folder_ = WorkFolder::create().value();
  Graph graph_ = products();
};

TEST_F(PlanPackerTest, SeveralCallsAndFilesGiveTheSamePlan) {
  const RealisedPlan whole = PlanPacker(registry_, folder_).pack(plan());
  EXPECT_GT(whole.constants.size(), plan().constants.size()) << "something was prepared";
  for (const std::size_t most : {kWeightBytes, 2 * kWeightBytes, std::size_t{1}}) {
    const RealisedPlan parts = PlanPacker(registry_, folder_, most).pack(plan());
    EXPECT_EQ(parts.constants.size(), whole.constants.size()) << most;
    EXPECT_EQ(parts.plan.weights_bytes, whole.plan.weights_bytes) << most;
    std::vector<Tensor> expected;
    for (const auto& [index, tensor] : whole.constants) expected.push_back(tensor);
    for (const auto& [index, tensor] : parts.constants)
      EXPECT_NE(std::ranges::find(expected, tensor), expected.end()) << most << ": value " << index;
  }
  EXPECT_TRUE(names_in(folder_.path()).empty()) << "the files have no names once they are mapped";
}

}  // namespace
}  // namespace collage
