// Softmax, reductions, and operators that move elements.
#include <algorithm>
#include <numeric>

#include "lowering/rules_of_operators.h"

namespace collage::xnnpack {
namespace {

using List = std::vector<std::int64_t>;

Done add(Composer& composer, Op op, const Node& node) {
  op.output = composer.write(node.outputs[0]);
  composer.add(std::move(op));
  return {};
}

/// Axes as an operand or as an attribute; nothing when they are computed.
std::optional<List> axes_of(const Graph& graph, const Node& node, std::size_t port) {
  const ValueId operand = input_of(node, port);
  if (!operand.valid()) return attribute_or<List>(node, "axes", List{});
  const Tensor* tensor = constant_of(graph, operand);
  return tensor == nullptr ? std::nullopt : integers_of(*tensor);
}

/// Of an image: whether only channels stay, or none, so that their order among the positions does not matter.
bool reduces_all_but_one_kind(const List& axes, std::size_t rank) {
  const auto has = [&](std::int64_t axis) {
    return std::ranges::any_of(
        axes, [&](std::int64_t one) { return (one < 0 ? one + static_cast<std::int64_t>(rank) : one) == axis; });
  };
  if (has(1)) return true;
  for (std::size_t axis = 2; axis < rank; ++axis)
    if (!has(static_cast<std::int64_t>(axis))) return false;
  return true;
}

}  // namespace

Done lower_softmax(Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.inputs[0]);
  if (rank == 0) return refuse(RefusalReason::kShape, "rank 0");
  const std::int64_t axis = composer.library_axis(rank, attribute_or<std::int64_t>(node, "axis", -1));
  const int source = composer.read(node.inputs[0]);
  if (axis + 1 != static_cast<std::int64_t>(composer.tensor(source).extents.size()))
    return refuse(RefusalReason::kFormat, "Softmax along the innermost axis only");
  return add(composer, {.kind = OpKind::kSoftmax, .inputs = {source}}, node);
}

Done lower_reduction(Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.inputs[0]);
  const bool is_global = node.op_type == "GlobalAveragePool";
  const bool keeps = is_global || attribute_or<std::int64_t>(node, "keepdims", 1) != 0;
  std::optional<List> axes = is_global ? List() : axes_of(composer.graph(), node, 1);
  if (!axes) return refuse(RefusalReason::kStructure, "computed axes");
  if (axes->empty()) {
    if (attribute_or<std::int64_t>(node, "noop_with_empty_axes", 0) != 0)
      return refuse(RefusalReason::kAttribute, "nothing to reduce");
    axes->resize(is_global ? rank - 2 : rank);
    std::iota(axes->begin(), axes->end(), is_global ? 2 : 0);
  }
  if (rank == 0) return refuse(RefusalReason::kShape, "rank 0");
  if (!keeps && composer.is_turned(composer.rank(node.outputs[0])))
    return refuse(RefusalReason::kFormat, "an axis less, of an image");
  if (constant_of(composer.graph(), node.inputs[0]) != nullptr)
    return refuse(RefusalReason::kStructure, "a reduction of a constant");
  if (!keeps && composer.is_turned(rank) && !reduces_all_but_one_kind(*axes, rank))
    return refuse(RefusalReason::kFormat, "channels and positions that stay, in the library's order");
  Op op{.kind = OpKind::kReduction,
        .algorithm = node.op_type == "ReduceSum" ? "sum" : "mean",
        .inputs = {composer.read(node.inputs[0])},
        .keeps_axes = keeps || axes->size() == rank};
  for (const std::int64_t axis : *axes) op.axes.push_back(composer.library_axis(rank, axis));
  // The axis that only the library has must go too when the others do.
  if (!keeps && composer.is_turned(rank) && rank == 3) op.axes.push_back(1);
  std::ranges::sort(op.axes);
  if (op.keeps_axes && !keeps) {
    // The library has no tensor without axes: ours has one.
    op.output = composer.temporary(Extents(composer.tensor(op.inputs[0]).extents.size(), 1));
    const int inner = op.output;
    composer.add(std::move(op));
    return add(composer, {.kind = OpKind::kReshape, .inputs = {inner}}, node);
  }
  return add(composer, std::move(op), node);
}

Done lower_transpose(Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.inputs[0]);
  if (rank == 0) return refuse(RefusalReason::kShape, "rank 0");
  if (composer.is_turned(rank)) return refuse(RefusalReason::kFormat, "Transpose of plain tensors only");
  List reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return add(composer,
             {.kind = OpKind::kTranspose,
              .inputs = {composer.read(node.inputs[0])},
              .axes = attribute_or<List>(node, "perm", reversed)},
             node);
}

Done lower_reshape(Composer& composer, const Node& node) {
  if (!composer.has_plain_bytes(node.inputs[0]) || !composer.has_plain_bytes(node.outputs[0]))
    return refuse(RefusalReason::kFormat, node.op_type + " of plain tensors only");
  return add(composer, {.kind = OpKind::kReshape, .inputs = {composer.read(node.inputs[0])}}, node);
}

Done lower_concat(Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.outputs[0]);
  const std::int64_t axis = composer.library_axis(rank, attribute_or<std::int64_t>(node, "axis", 0));
  Op op{.kind = OpKind::kConcat, .axes = {axis}};
  if (node.inputs.size() < 2 || node.inputs.size() > 5)
    return refuse(RefusalReason::kStructure, "Concat of two to five values only");
  for (const ValueId id : node.inputs) {
    // Constants of one number would lose their axes.
    if (constant_of(composer.graph(), id) != nullptr) return refuse(RefusalReason::kStructure, "Concat of a constant");
    op.inputs.push_back(composer.read(id));
  }
  return add(composer, std::move(op), node);
}

Done lower_pad(Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.inputs[0]);
  if (attribute_or<std::string>(node, "mode", "constant") != "constant")
    return refuse(RefusalReason::kAttribute, "Pad by other than a number");
  const Tensor* pads = constant_of(composer.graph(), input_of(node, 1));
  const auto amounts = pads != nullptr ? integers_of(*pads) : std::nullopt;
  const std::optional<List> given = axes_of(composer.graph(), node, 3);
  if (!amounts || !given) return refuse(RefusalReason::kStructure, "Pad by computed amounts");
  List axes = *given;
  if (!input_of(node, 3).valid()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  float value = 0.F;
  if (const ValueId fill = input_of(node, 2); fill.valid()) {
    const auto number = number_of(composer.graph(), fill);
    if (!number) return refuse(RefusalReason::kStructure, "Pad with a computed number");
    value = *number;
  }
  // A constant of one number would lose its axes.
  if (constant_of(composer.graph(), node.inputs[0]) != nullptr)
    return refuse(RefusalReason::kStructure, "Pad of a constant");
  const int source = composer.read(node.inputs[0]);
  const std::size_t count = composer.tensor(source).extents.size();
  Op op{.kind = OpKind::kPad, .inputs = {source}, .begin = Extents(count, 0), .end = Extents(count, 0), .alpha = value};
  if (rank == 0 || amounts->size() != 2 * axes.size()) return refuse(RefusalReason::kAttribute, "pads of another rank");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<std::size_t>(composer.library_axis(rank, axes[i]));
    op.begin[at] = (*amounts)[i];
    op.end[at] = (*amounts)[i + axes.size()];
    if (op.begin[at] < 0 || op.end[at] < 0) return refuse(RefusalReason::kAttribute, "Pad by less than nothing");
  }
  return add(composer, std::move(op), node);
}

}  // namespace collage::xnnpack
