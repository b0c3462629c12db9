#include "compiler/expressions/quantise.h"

#include "compiler/expressions/expression.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;

namespace {

bool is_small_integer(ElementType type) {
  return type == ElementType::kInt8 || type == ElementType::kUint8 || type == ElementType::kInt16 ||
         type == ElementType::kUint16;
}

/// The axis that scales and zero points of several channels run along.
std::optional<std::size_t> channel_axis(const Graph& graph, const Node& node) {
  const auto rank = static_cast<std::int64_t>(graph.value(node.inputs[0]).type.extents().size());
  const auto axis = attribute_or<std::int64_t>(node, "axis", 1);
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

/// One number for the tensor, or one for each place along the axis.
bool is_by_tensor_or_axis(const Graph& graph, const Node& node, ValueId id) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_static() || type.extents().size() > 1) return false;
  const Extents& whole = graph.value(node.inputs[0]).type.extents();
  if (element_count(type.extents()) == 1) return type.extents().size() <= whole.size();
  const auto axis = channel_axis(graph, node);
  return axis && whole[*axis] == type.extents()[0];
}

bool is_quantiser_name(const Node& node) { return is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear"); }

}  // namespace

bool is_quantiser(const Graph& graph, const Node& node) {
  if (!is_quantiser_name(node) || attribute_or<std::int64_t>(node, "block_size", 0) != 0) return false;
  if (!graph.value(node.inputs[0]).type.is_static()) return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && !is_by_tensor_or_axis(graph, node, node.inputs[i])) return false;
  const ElementType from = graph.value(node.inputs[0]).type.element;
  const ElementType to = graph.value(node.outputs[0]).type.element;
  if (graph.value(node.inputs[1]).type.element != ElementType::kFloat32) return false;
  if (is_op(node, "QuantizeLinear")) return from == ElementType::kFloat32 && is_small_integer(to);
  return to == ElementType::kFloat32 && (is_small_integer(from) || from == ElementType::kInt32);
}

std::optional<std::size_t> operand_axis(const Graph& graph, const Node& node, std::size_t operand) {
  if (operand == 0 || !is_quantiser_name(node) || !node.inputs[operand].valid()) return std::nullopt;
  if (element_count(graph.value(node.inputs[operand]).type.extents()) == 1) return std::nullopt;
  return channel_axis(graph, node);
}

Extents operand_extents(const Graph& graph, const Node& node, std::size_t operand) {
  Extents extents = graph.value(node.inputs[operand]).type.extents();
  if (const auto axis = operand_axis(graph, node, operand))
    extents.resize(graph.value(node.inputs[0]).type.extents().size() - *axis, 1);
  return extents;
}

Expr exact_quotient(const Expr& a, const Expr& b) {
  // Only the quotient is strict: what stands before it may still be contracted.
  using Halide::Internal::Call;
  return Call::make(a.type(), Call::strict_div, {a, b}, Call::PureIntrinsic);
}

Expr rounded_to(const Expr& steps, const Expr& zero_point, ElementType to) {
  const Halide::Type type = computed_type(to);
  Expr sum = Halide::round(steps);
  if (zero_point.defined()) sum = sum + cast<float>(cast<std::int32_t>(zero_point));
  return cast(type, cast<std::int32_t>(Halide::clamp(sum, cast<float>(type.min()), cast<float>(type.max()))));
}

Expr quantised(const Expr& x, const Expr& scale, const Expr& zero_point, ElementType to, Quotient quotient) {
  const Expr steps = quotient == Quotient::kExact ? exact_quotient(x, scale) : x * (Expr(1.F) / scale);
  return rounded_to(steps, zero_point, to);
}

Expr dequantised(const Expr& x, const Expr& scale, const Expr& zero_point) {
  Expr steps = cast<std::int32_t>(x);
  if (zero_point.defined()) steps = steps - cast<std::int32_t>(zero_point);
  return cast<float>(steps) * scale;
}

}  // namespace collage::native
