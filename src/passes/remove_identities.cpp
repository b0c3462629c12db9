// Removes nodes that give back what they read, where types and shapes prove it.
#include <algorithm>
#include <array>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

bool all_equal(const std::optional<Integers>& values, std::int64_t expected) {
  return values && std::all_of(values->begin(), values->end(), [&](std::int64_t v) { return v == expected; });
}

/// A constant whose every element is exactly `expected`; integers and floats.
bool is_constant_of(const Graph& graph, ValueId id, int expected) {
  if (const auto number = scalar_of(graph, id)) return *number == expected;
  const Tensor* constant = constant_of(graph, id);
  if (constant == nullptr || !is_integer(constant->type) || constant->size() < 1 || constant->size() > 64) return false;
  return all_equal(integers_of(*constant), expected);
}

bool keeps_shape(const Graph& graph, const Node& node) { return same_type(graph, node.inputs[0], node.outputs[0]); }

bool is_plain_copy(const Graph& graph, const Node& node) {
  if (is_op(node, "Identity")) return true;
  if (is_op(node, "Dropout")) return !is_random(node) || is_constant_of(graph, node.inputs[2], 0);
  if (is_op(node, "Concat") || is_op(node, "Sum") || is_op(node, "Max") || is_op(node, "Min") || is_op(node, "Mean"))
    return node.inputs.size() == 1;
  if (is_op(node, "Split")) return node.outputs.size() == 1;
  if (is_op(node, "Clip")) return !input_of(node, 1).valid() && !input_of(node, 2).valid();
  return false;
}

bool is_idle_cast(const Graph& graph, const Node& node) {
  if (!is_op(node, "Cast") && !is_op(node, "CastLike")) return false;
  const ElementType from = element_of(graph, node.inputs[0]);
  return from != ElementType::kUndefined && from == element_of(graph, node.outputs[0]);
}

bool is_idle_movement(const Graph& graph, const Node& node) {
  if (is_op(node, "Transpose")) {
    const auto perm = permutation_of(graph, node);
    return perm && is_identity(*perm);
  }
  if (is_reshape_like(node) || is_op(node, "Expand")) return keeps_shape(graph, node);
  if (is_op(node, "Tile")) return all_equal(integers_of(graph, input_of(node, 1)), 1);
  if (is_op(node, "Pad")) return all_equal(integers_of(graph, input_of(node, 1)), 0);
  if (is_op(node, "Slice")) {
    const bool forward = !input_of(node, 4).valid() || all_equal(integers_of(graph, node.inputs[4]), 1);
    return forward && keeps_shape(graph, node);
  }
  return false;
}

bool is_idle_resize(const Graph& graph, const Node& node) {
  if (!is_op(node, "Resize") || !keeps_shape(graph, node)) return false;
  if (attribute_or<std::string>(node, "coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize")
    return false;
  const bool by_sizes = input_of(node, 3).valid();
  return by_sizes || scalar_of(graph, input_of(node, 2)) == 1.0;
}

bool has_unit_extents(const Shape& shape, std::size_t from) {
  return std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end(),
                     [](const Dim& dim) { return dim.extent == 1; });
}

/// Pooling over one pixel, and reductions over axes of extent 1 that keep them.
bool is_idle_reduction(const Graph& graph, const Node& node) {
  static constexpr std::array kReductions = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"};
  if (node.inputs.empty() || !rank_of(graph, node.inputs[0])) return false;
  const Shape& shape = *graph.value(node.inputs[0]).type.shape;
  if (is_op(node, "GlobalAveragePool") || is_op(node, "GlobalMaxPool"))
    return shape.size() > 2 && has_unit_extents(shape, 2);
  const bool reduces = node.domain.empty() && std::any_of(kReductions.begin(), kReductions.end(),
                                                          [&](const char* op) { return node.op_type == op; });
  const auto axes = integers_of(graph, input_of(node, 1));
  if (!reduces || !axes || axes->empty() || !keeps_shape(graph, node)) return false;
  return std::all_of(axes->begin(), axes->end(), [&](std::int64_t axis) {
    const auto at = normal_axis(axis, shape.size());
    return at && shape[*at].extent == 1;
  });
}

bool remove_copy(Editor& editor, NodeId id) {
  const Graph& graph = editor.graph();
  const Node& node = editor.node(id);
  if (node.inputs.empty() || node.outputs.empty() || !node.inputs[0].valid() || !node.outputs[0].valid()) return false;
  if (!is_plain_copy(graph, node) && !is_idle_cast(graph, node) && !is_idle_movement(graph, node) &&
      !is_idle_resize(graph, node) && !is_idle_reduction(graph, node))
    return false;
  return editor.bypass(id, node.inputs[0]);
}

/// x*1, x/1, x+0, x-0, x^1 where the constant does not widen x.
bool remove_neutral(Editor& editor, NodeId id) {
  const Graph& graph = editor.graph();
  const Node& node = editor.node(id);
  if (!node.domain.empty() || node.inputs.size() != 2) return false;
  const bool commutes = node.op_type == "Mul" || node.op_type == "Add";
  int neutral = 0;
  if (node.op_type == "Mul" || node.op_type == "Div" || node.op_type == "Pow")
    neutral = 1;
  else if (node.op_type != "Add" && node.op_type != "Sub")
    return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const ValueId kept = node.inputs[1 - side];
    if ((side == 0 && !commutes) || constant_of(graph, kept) != nullptr) continue;
    if (is_constant_of(graph, node.inputs[side], neutral) && same_type(graph, kept, node.outputs[0]))
      return editor.bypass(id, kept);
  }
  return false;
}

}  // namespace

Result<bool> remove_identities(Graph& graph, PassContext&) { return apply_rules(graph, {remove_copy, remove_neutral}); }

}  // namespace collage
