#include "compiler/analysis/composite.h"

#include <algorithm>

#include "compiler/analysis/attention_form.h"

namespace collage::native {
namespace {

/// The node of the region that makes the value.
const Node* maker_of(const Graph& graph, const Region& region, ValueId id, std::size_t& index) {
  for (const std::size_t n : region.nodes.members())
    if (graph.nodes[n].outputs[0] == id) {
      index = n;
      return &graph.nodes[n];
    }
  return nullptr;
}

bool is_all(const Graph& graph, ValueId id, float number) {
  const Tensor* constant = constant_of(graph, id);
  if (constant == nullptr || constant->type != ElementType::kFloat32) return false;
  const auto* numbers = reinterpret_cast<const float*>(constant->data.data());
  return std::all_of(numbers, numbers + constant->size(), [&](float one) { return one == number; });
}

/// Reshape [n, c, ...] -> [n, groups, ...] -> InstanceNormalization of scale 1 and bias 0 -> Reshape back.
std::optional<Composite> group_norm_of(const Graph& graph, const Region& region) {
  for (const std::size_t n : region.nodes.members()) {
    const Node& back = graph.nodes[n];
    std::size_t norm_index = 0;
    std::size_t split_index = 0;
    if (!is_op(back, "Reshape")) continue;
    const Node* norm = maker_of(graph, region, back.inputs[0], norm_index);
    if (norm == nullptr || !is_op(*norm, "InstanceNormalization")) continue;
    const Node* split = maker_of(graph, region, norm->inputs[0], split_index);
    if (split == nullptr || !is_op(*split, "Reshape")) continue;
    if (!is_all(graph, norm->inputs[1], 1.F) || !is_all(graph, norm->inputs[2], 0.F)) continue;
    const Extents whole = graph.value(split->inputs[0]).type.extents();
    const Extents groups = graph.value(norm->inputs[0]).type.extents();
    if (graph.value(back.outputs[0]).type.extents() != whole || whole.size() < 3) continue;
    if (groups[0] != whole[0] || whole[1] % groups[1] != 0) continue;
    Composite composite{
        .node = {.name = norm->name,
                 .domain = "",
                 .op_type = "GroupNormalization",
                 .inputs = {split->inputs[0]},
                 .outputs = {back.outputs[0]},
                 .captures = {},
                 .attributes = {{"epsilon", attribute_or<float>(*norm, "epsilon", 1e-5F)}, {"num_groups", groups[1]}}},
        .nodes = NodeSet(graph.nodes.size())};
    for (const std::size_t index : {n, norm_index, split_index}) composite.nodes.insert(index);
    return composite;
  }
  return std::nullopt;
}

std::optional<Composite> attention_composite_of(const Graph& graph, const Region& region) {
  const auto form = written_attention(graph, region);
  if (!form) return std::nullopt;
  return Composite{.node = {.name = "",
                            .domain = "",
                            .op_type = "Attention",
                            .inputs = {form->queries.source, form->keys.source, form->values.source},
                            .outputs = {form->result},
                            .captures = {},
                            .attributes = {}},
                   .nodes = form->nodes};
}

}  // namespace

std::optional<Composite> composite_of(const Graph& graph, const Region& region) {
  if (region.nodes.count() < 3) return std::nullopt;
  if (auto composite = group_norm_of(graph, region)) return composite;
  return attention_composite_of(graph, region);
}

}  // namespace collage::native
