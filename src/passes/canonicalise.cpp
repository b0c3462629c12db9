// Writes equal meanings in one form, so that backends need one pattern for each: exact rewrites in one pass, those
// that round differently in another.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

bool is_f32(const Graph& graph, ValueId id) { return element_of(graph, id) == ElementType::kFloat32; }

Node renamed(const Node& node, std::string op_type, std::vector<ValueId> inputs) {
  return Node{.name = node.name,
              .domain = {},
              .op_type = std::move(op_type),
              .inputs = std::move(inputs),
              .outputs = node.outputs,
              .captures = {},
              .attributes = {}};
}

ValueId scalar_constant(Editor& editor, const Node& node, const std::string& role, double value) {
  return editor.add_constant(editor.value(node.outputs[0]).name + "_" + role,
                             make_tensor<float>(ElementType::kFloat32, {}, {static_cast<float>(value)}));
}

/// Constants stand second in what commutes.
bool order_operands(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Add") && !is_op(node, "Mul")) return false;
  if (constant_of(editor.graph(), node.inputs[0]) == nullptr || constant_of(editor.graph(), node.inputs[1]) != nullptr)
    return false;
  editor.replace(id, renamed(node, node.op_type, {node.inputs[1], node.inputs[0]}));
  return true;
}

bool sum_to_add(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Sum") || node.inputs.size() != 2) return false;
  editor.replace(id, renamed(node, "Add", node.inputs));
  return true;
}

/// x - c is x + (-c).
bool sub_to_add(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Sub") || constant_of(editor.graph(), node.inputs[0]) != nullptr) return false;
  const auto values = floats_of(editor.graph(), node.inputs[1]);
  if (!values || values->size() > 65536) return false;
  std::vector<double> negated = *values;
  for (double& value : negated) value = -value;
  const Extents extents = constant_of(editor.graph(), node.inputs[1])->extents;
  const ValueId constant =
      editor.add_constant(editor.value(node.inputs[1]).name + "_negated", float_tensor(extents, negated));
  editor.replace(id, renamed(node, "Add", {node.inputs[0], constant}));
  return true;
}

/// The limits of a Relu or a Clip with constant bounds.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

std::optional<Bounds> bounds_of(const Graph& graph, const Node& node) {
  if (is_op(node, "Relu")) return Bounds{.low = 0, .high = std::numeric_limits<double>::infinity()};
  if (!is_op(node, "Clip")) return std::nullopt;
  Bounds bounds;
  const auto read = [&](std::size_t port, double& bound) {
    if (!input_of(node, port).valid()) return true;
    const auto value = scalar_of(graph, node.inputs[port]);
    // Bounds at the largest float are how exporters write "no bound".
    if (value && std::abs(*value) < std::numeric_limits<float>::max()) bound = *value;
    return value.has_value();
  };
  if (!read(1, bounds.low) || !read(2, bounds.high)) return std::nullopt;
  return bounds;
}

/// Max or Min of a value and a number.
std::optional<Bounds> one_bound(const Graph& graph, const Node& node) {
  if ((!is_op(node, "Max") && !is_op(node, "Min")) || node.inputs.size() != 2) return std::nullopt;
  const std::size_t side = constant_of(graph, node.inputs[0]) != nullptr ? 0 : 1;
  const auto limit = scalar_of(graph, node.inputs[side]);
  if (!limit || !same_type(graph, node.inputs[1 - side], node.outputs[0])) return std::nullopt;
  Bounds bounds;
  (is_op(node, "Max") ? bounds.low : bounds.high) = *limit;
  return bounds;
}

Node bounded(Editor& editor, const Node& node, ValueId input, const Bounds& bounds) {
  const bool has_low = std::isfinite(bounds.low);
  const bool has_high = std::isfinite(bounds.high);
  if (bounds.low == 0 && !has_high) return renamed(node, "Relu", {input});
  Node clip = renamed(node, "Clip", {input});
  if (has_low || has_high)
    clip.inputs.push_back(has_low ? scalar_constant(editor, node, "low", bounds.low) : ValueId{});
  if (has_high) clip.inputs.push_back(scalar_constant(editor, node, "high", bounds.high));
  return clip;
}

bool min_max_to_clip(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  const auto bounds = one_bound(editor.graph(), node);
  if (!bounds || !is_f32(editor.graph(), node.outputs[0])) return false;
  const std::size_t side = constant_of(editor.graph(), node.inputs[0]) != nullptr ? 0 : 1;
  editor.replace(id, bounded(editor, node, node.inputs[1 - side], *bounds));
  return true;
}

/// Clips in a row become one; a Clip to [0, inf) becomes a Relu.
bool merge_clips(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  const auto outer = bounds_of(editor.graph(), node);
  if (!outer || outer->low > outer->high || !is_f32(editor.graph(), node.outputs[0])) return false;
  const NodeId maker = editor.producer(node.inputs[0]);
  std::optional<Bounds> inner;
  if (maker.valid() && editor.has_one_reader(node.inputs[0])) inner = bounds_of(editor.graph(), editor.node(maker));
  if (!inner) {
    if (is_op(node, "Relu") || outer->low != 0 || std::isfinite(outer->high)) return false;
    editor.replace(id, renamed(node, "Relu", {node.inputs[0]}));
    return true;
  }
  if (inner->low > inner->high) return false;
  // The outer bounds win where the intervals do not meet, as they do when applied last.
  const Bounds both{.low = std::clamp(inner->low, outer->low, outer->high),
                    .high = std::clamp(inner->high, outer->low, outer->high)};
  editor.replace(id, bounded(editor, node, editor.node(maker).inputs[0], both));
  return true;
}

bool simple_powers(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Pow") || !is_f32(editor.graph(), node.inputs[0])) return false;
  const auto exponent = scalar_of(editor.graph(), node.inputs[1]);
  const bool integer_two = integers_of(editor.graph(), node.inputs[1]) == Integers{2};
  if (!same_type(editor.graph(), node.inputs[0], node.outputs[0])) return false;
  if (exponent == 2.0 || integer_two)
    editor.replace(id, renamed(node, "Mul", {node.inputs[0], node.inputs[0]}));
  else if (exponent == 0.5)
    editor.replace(id, renamed(node, "Sqrt", {node.inputs[0]}));
  else
    return false;
  return true;
}

/// A slope that is the same for every channel.
bool uniform_prelu(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "PRelu") || !is_f32(editor.graph(), node.inputs[0])) return false;
  const auto slope = scalar_of(editor.graph(), node.inputs[1]);
  if (!slope || !same_type(editor.graph(), node.inputs[0], node.outputs[0])) return false;
  Node leaky = renamed(node, "LeakyRelu", {node.inputs[0]});
  set_attribute(leaky, "alpha", static_cast<float>(*slope));
  editor.replace(id, std::move(leaky));
  return true;
}

bool feeds(const Editor& editor, ValueId value, std::string_view op_type) {
  const auto& readers = editor.readers(value);
  return std::any_of(readers.begin(), readers.end(), [&](NodeId r) { return is_op(editor.node(r), op_type); });
}

/// Averages over everything spatial.
bool global_average(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  const auto input = node.inputs.empty() ? std::nullopt : static_extents(editor.graph(), node.inputs[0]);
  if (!input || input->size() < 3 || input->size() > 5 || !is_f32(editor.graph(), node.inputs[0])) return false;
  const std::size_t spatial = input->size() - 2;
  if (is_op(node, "ReduceMean")) {
    // Sequences are no images, and a mean that is subtracted belongs to a normalisation.
    if (spatial < 2 || feeds(editor, node.outputs[0], "Sub")) return false;
    const auto axes = integers_of(editor.graph(), input_of(node, 1));
    if (!axes || axes->size() != spatial || attribute_or<std::int64_t>(node, "keepdims", 1) == 0) return false;
    for (const std::int64_t axis : *axes)
      if (normal_axis(axis, input->size()).value_or(0) < 2) return false;
  } else if (is_op(node, "AveragePool")) {
    const auto pads = attribute_or<Integers>(node, "pads", {});
    const auto kernel = attribute_or<Integers>(node, "kernel_shape", {});
    if (attribute_or<std::string>(node, "auto_pad", "NOTSET") != "NOTSET" ||
        attribute_or<Integers>(node, "dilations", Integers(spatial, 1)) != Integers(spatial, 1) ||
        std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; }) ||
        !std::equal(kernel.begin(), kernel.end(), input->begin() + 2, input->end()))
      return false;
  } else {
    return false;
  }
  editor.replace(id, renamed(node, "GlobalAveragePool", {node.inputs[0]}));
  return true;
}

bool gives_row(const Extents& bias, std::int64_t columns) {
  return (bias.size() == 1 && bias[0] == columns) || (bias.size() == 2 && bias[0] == 1 && bias[1] == columns);
}

/// A matrix product with constant weights and a row added to it.
bool matmul_to_gemm(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Add") || constant_of(editor.graph(), node.inputs[1]) == nullptr) return false;
  const Node* product = editor.producer_op(node.inputs[0], "MatMul");
  if (product == nullptr || !editor.has_one_reader(node.inputs[0]) || !is_f32(editor.graph(), node.outputs[0]))
    return false;
  const Tensor* weights = constant_of(editor.graph(), product->inputs[1]);
  const auto rank = rank_of(editor.graph(), product->inputs[0]);
  if (weights == nullptr || weights->extents.size() != 2 || rank != std::size_t{2}) return false;
  if (!gives_row(constant_of(editor.graph(), node.inputs[1])->extents, weights->extents[1])) return false;
  Node gemm = renamed(node, "Gemm", {product->inputs[0], product->inputs[1], node.inputs[1]});
  gemm.name = product->name;
  editor.replace(id, std::move(gemm));
  return true;
}

std::optional<std::vector<double>> reciprocals(const std::vector<double>& values, bool exact) {
  std::vector<double> result;
  for (const double value : values) {
    int exponent = 0;
    if (exact && std::abs(std::frexp(value, &exponent)) != 0.5) return std::nullopt;
    const double reciprocal = 1.0 / value;
    if (!std::isnormal(static_cast<float>(reciprocal))) return std::nullopt;
    result.push_back(reciprocal);
  }
  return result;
}

bool div_to_mul(Editor& editor, NodeId id, bool exact) {
  const Node node = editor.node(id);
  if (!is_op(node, "Div") || constant_of(editor.graph(), node.inputs[0]) != nullptr) return false;
  const auto values = floats_of(editor.graph(), node.inputs[1]);
  if (!values || values->size() > 65536) return false;
  const auto inverted = reciprocals(*values, exact);
  if (!inverted) return false;
  const Extents extents = constant_of(editor.graph(), node.inputs[1])->extents;
  const ValueId constant =
      editor.add_constant(editor.value(node.inputs[1]).name + "_reciprocal", float_tensor(extents, *inverted));
  editor.replace(id, renamed(node, "Mul", {node.inputs[0], constant}));
  return true;
}

bool exact_div_to_mul(Editor& editor, NodeId id) { return div_to_mul(editor, id, true); }
bool inexact_div_to_mul(Editor& editor, NodeId id) { return div_to_mul(editor, id, false); }

/// b for which `value` is 1 / b.
ValueId inverted(const Editor& editor, ValueId value) {
  if (const Node* reciprocal = editor.producer_op(value, "Reciprocal")) return reciprocal->inputs[0];
  const Node* quotient = editor.producer_op(value, "Div");
  const bool is_one = quotient != nullptr && scalar_of(editor.graph(), quotient->inputs[0]) == 1.0 &&
                      same_type(editor.graph(), quotient->inputs[1], value);
  return is_one ? quotient->inputs[1] : ValueId{};
}

/// a * (1 / b) is a / b.
bool mul_reciprocal(Editor& editor, NodeId id) {
  const Node node = editor.node(id);
  if (!is_op(node, "Mul") || constant_of(editor.graph(), node.inputs[1]) != nullptr) return false;
  if (node.inputs[0] == node.inputs[1]) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    if (!editor.has_one_reader(node.inputs[side])) continue;
    const ValueId divisor = inverted(editor, node.inputs[side]);
    if (!divisor.valid()) continue;
    editor.replace(id, renamed(node, "Div", {node.inputs[1 - side], divisor}));
    return true;
  }
  return false;
}

}  // namespace

Result<bool> canonicalise(Graph& graph, PassContext&) {
  return apply_rules(graph, {order_operands, sum_to_add, sub_to_add, min_max_to_clip, merge_clips, simple_powers,
                             uniform_prelu, global_average, matmul_to_gemm, exact_div_to_mul});
}

Result<bool> canonicalise_inexact(Graph& graph, PassContext&) {
  if (rounds(graph)) return false;
  return apply_rules(graph, {inexact_div_to_mul, mul_reciprocal});
}

}  // namespace collage
