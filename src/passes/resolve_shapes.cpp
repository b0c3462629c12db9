// Turns what is known of shapes into constants: Shape and Size of static values, targets of Reshape and Expand.
// In: a graph with inferred types. Out: shape arithmetic that fold_constants can finish.
#include <algorithm>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

/// The dimensions that a Shape node returns; nothing when the rank is not known.
std::optional<Shape> asked_dims(const Graph& graph, const Node& node) {
  const auto rank = rank_of(graph, input_of(node, 0));
  if (!rank) return std::nullopt;
  const auto count = static_cast<std::int64_t>(*rank);
  const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count); };
  const std::int64_t start = clamp(attribute_or<std::int64_t>(node, "start", 0));
  const std::int64_t end = std::max(start, clamp(attribute_or<std::int64_t>(node, "end", count)));
  const Shape& shape = *graph.value(node.inputs[0]).type.shape;
  return Shape(shape.begin() + start, shape.begin() + end);
}

bool resolve_shape(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Shape") || editor.is_pinned(node.outputs[0])) return false;
  const auto dims = asked_dims(editor.graph(), node);
  if (!dims || !std::all_of(dims->begin(), dims->end(), [](const Dim& dim) { return dim.is_static(); })) return false;
  Integers extents;
  for (const Dim& dim : *dims) extents.push_back(dim.extent);
  editor.make_constant(node.outputs[0], integer_tensor(extents));
  return true;
}

bool resolve_size(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Size") || editor.is_pinned(node.outputs[0])) return false;
  const auto extents = static_extents(editor.graph(), input_of(node, 0));
  if (!extents) return false;
  editor.make_constant(node.outputs[0], make_tensor<std::int64_t>(ElementType::kInt64, {}, {element_count(*extents)}));
  return true;
}

/// Gather or Slice of a Shape whose asked dimensions are static although others are not.
bool resolve_shape_part(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Gather") || editor.is_pinned(node.outputs[0])) return false;
  const Node* shape = editor.producer_op(node.inputs[0], "Shape");
  const auto indices = integers_of(editor.graph(), input_of(node, 1));
  if (shape == nullptr || !indices) return false;
  const auto dims = asked_dims(editor.graph(), *shape);
  if (!dims) return false;
  Integers extents;
  for (const std::int64_t index : *indices) {
    const auto at = normal_axis(index, dims->size());
    if (!at || !(*dims)[*at].is_static()) return false;
    extents.push_back((*dims)[*at].extent);
  }
  const Extents& form = constant_of(editor.graph(), node.inputs[1])->extents;
  editor.make_constant(node.outputs[0], make_tensor(ElementType::kInt64, form, extents));
  return true;
}

/// A Reshape or Expand whose result has a known shape needs no computed target; a Reshape's -1 and 0 go too.
bool resolve_target(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Reshape") && !is_op(node, "Expand")) return false;
  const auto extents = static_extents(editor.graph(), node.outputs[0]);
  if (!extents) return false;
  const bool has_empty = std::find(extents->begin(), extents->end(), 0) != extents->end();
  const auto target = integers_of(editor.graph(), input_of(node, 1));
  if (is_op(node, "Expand") ? target.has_value() : (has_empty || (target && *target == *extents))) return false;
  const std::string name = editor.value(node.outputs[0]).name + "_shape";
  editor.set_input(id, 1, editor.add_constant(name, integer_tensor(*extents)));
  return true;
}

}  // namespace

Result<bool> resolve_shapes(Graph& graph, PassContext&) {
  return apply_rules(graph, {resolve_shape, resolve_size, resolve_shape_part, resolve_target});
}

}  // namespace collage
