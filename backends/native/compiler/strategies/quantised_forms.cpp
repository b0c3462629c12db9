#include <algorithm>

#include "compiler/expressions/expression.h"
#include "compiler/strategies/convolution.h"
#include "compiler/strategies/product.h"
#include "compiler/strategies/quantised.h"

namespace collage::native {
namespace {

using Done = std::expected<void, Refusal>;

/// The DequantizeLinear before the anchor that makes a value; null for none.
const Node* dequantiser_of(const Site& site, ValueId id) {
  for (const std::size_t n : site.before.members())
    if (site.graph.nodes[n].outputs[0] == id && is_op(site.graph.nodes[n], "DequantizeLinear"))
      return &site.graph.nodes[n];
  return nullptr;
}

bool is_byte(const Site& site, ValueId id) {
  const ElementType type = site.type(id).element;
  return type == ElementType::kInt8 || type == ElementType::kUint8;
}

bool is_all_zero(const Site& site, ValueId id) {
  const Tensor* constant = constant_of(site.graph, id);
  if (constant == nullptr) return false;
  return std::ranges::all_of(constant->data.as<std::byte>(), [](std::byte one) { return one == std::byte{0}; });
}

std::int64_t count_of(const Site& site, ValueId id) { return element_count(site.extents(id)); }

/// An operand that is one number, or absent.
bool is_whole(const Site& site, ValueId id) { return !id.valid() || count_of(site, id) == 1; }

/// One number, or one for each output.
bool is_whole_or_by_output(const Site& site, const Dense& dense, ValueId id) {
  return is_whole(site, id) || (site.extents(id).size() == 1 && count_of(site, id) == dense.outputs());
}

/// QLinearConv, QLinearMatMul: operands in the same places, but for the bias.
Quantised rounded_operator(const Node& node) {
  return {.dense = {.source = node.inputs[0], .weights = node.inputs[3]},
          .result = SumResult::kQuantised,
          .source_zero = node.inputs[2],
          .weight_zero = node.inputs[5],
          .source_scale = node.inputs[1],
          .weight_scale = node.inputs[4],
          .result_scale = node.inputs[6],
          .result_zero = node.inputs[7],
          .steps = input_of(node, 8)};
}

/// ConvInteger, MatMulInteger.
Quantised integer_operator(const Node& node) {
  return {.dense = {.source = node.inputs[0], .weights = node.inputs[1]},
          .source_zero = input_of(node, 2),
          .weight_zero = input_of(node, 3)};
}

/// Conv, MatMul and Gemm between what DequantizeLinear makes. `output_axis` is the one of the weights.
std::expected<Quantised, Refusal> wrapped_operator(const Site& site, std::size_t output_axis) {
  const Node& node = *site.anchor;
  const Node* source = dequantiser_of(site, node.inputs[0]);
  const Node* weights = dequantiser_of(site, node.inputs[1]);
  if (weights == nullptr) return refuse(RefusalReason::kStructure, "work before " + node.op_type);
  for (std::size_t i = 1; i < weights->inputs.size(); ++i)
    if (operand_axis(site.graph, *weights, i).value_or(output_axis) != output_axis)
      return refuse(RefusalReason::kStructure, "scales of weights along another axis than the outputs");
  Quantised made{.dense = {.source = node.inputs[0], .weights = weights->inputs[0]},
                 .is_source_real = source == nullptr,
                 .result = SumResult::kReal,
                 .weight_zero = input_of(*weights, 2),
                 .weight_scale = weights->inputs[1]};
  if (source != nullptr) {
    made.dense.source = source->inputs[0];
    made.source_zero = input_of(*source, 2);
    made.source_scale = source->inputs[1];
  }
  const ValueId bias = input_of(node, 2);
  const Node* steps = bias.valid() ? dequantiser_of(site, bias) : nullptr;
  if (steps != nullptr) {
    if (input_of(*steps, 2).valid()) return refuse(RefusalReason::kStructure, "a bias with a zero point");
    made.steps = steps->inputs[0];
    made.steps_scale = steps->inputs[1];
  } else {
    made.dense.bias = bias;
  }
  // Other nodes before the anchor are not part of the form.
  const std::size_t expected = 1U + (source != nullptr ? 1U : 0U) + (steps != nullptr ? 1U : 0U);
  if (site.before.count() != expected) return refuse(RefusalReason::kStructure, "work before " + node.op_type);
  return made;
}

Done check_numbers(const Site& site, const Quantised& q) {
  const bool is_source_known =
      q.is_source_real ? site.type(q.dense.source).element == ElementType::kFloat32 : is_byte(site, q.dense.source);
  if (!is_source_known || !is_byte(site, q.dense.weights))
    return refuse(RefusalReason::kType, "factors of other types than bytes");
  if (q.is_source_real && q.weight_zero.valid() && !is_all_zero(site, q.weight_zero))
    return refuse(RefusalReason::kStructure, "a zero point of weights beside a real source");
  for (const ValueId id : {q.source_zero, q.source_scale, q.result_scale, q.result_zero})
    if (!is_whole(site, id)) return refuse(RefusalReason::kStructure, "scales of rows or channels of an activation");
  for (const ValueId id : {q.weight_zero, q.weight_scale, q.steps, q.steps_scale})
    if (id.valid() && !is_whole_or_by_output(site, q.dense, id))
      return refuse(RefusalReason::kShape, "numbers for other than each output");
  for (const ValueId id : {q.source_scale, q.weight_scale, q.result_scale, q.steps_scale})
    if (id.valid() && site.type(id).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "scales");
  if (q.steps.valid() && site.type(q.steps).element != ElementType::kInt32) return refuse(RefusalReason::kType, "bias");
  const ElementType result = site.type(site.result()).element;
  if (q.result == SumResult::kQuantised && result != ElementType::kInt8 && result != ElementType::kUint8)
    return refuse(RefusalReason::kType, "a result that is no byte");
  return {};
}

/// The form by its operator; geometry is for the caller.
std::expected<Quantised, Refusal> form_of(const Site& site, std::size_t output_axis) {
  const Node& node = *site.anchor;
  if (node.op_type == "Conv" || node.op_type == "MatMul" || node.op_type == "Gemm")
    return wrapped_operator(site, output_axis);
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  return node.op_type.starts_with("QLinear") ? rounded_operator(node) : integer_operator(node);
}

std::expected<Quantised, Refusal> finished(const Site& site, Quantised form, std::expected<Dense, Refusal> dense,
                                           const std::optional<View>& bias_view) {
  if (!dense) return std::unexpected(dense.error());
  const ValueId bias = form.dense.bias;
  form.dense = *std::move(dense);
  if (bias.valid() && !bias_view) return refuse(RefusalReason::kShape, "a bias of another shape");
  form.dense.bias = bias;
  if (bias.valid()) form.dense.bias_view = *bias_view;
  if (auto ok = check_numbers(site, form); !ok) return std::unexpected(ok.error());
  return form;
}

}  // namespace

std::expected<Quantised, Refusal> quantised_convolution_of(const Site& site) {
  auto form = form_of(site, 0);
  if (!form) return form;
  if (constant_of(site.graph, form->dense.weights) == nullptr)
    return refuse(RefusalReason::kStructure, "computed weights");
  const std::int64_t outputs = site.extents(site.result())[1];
  const View bias{.extents = {1, 1, 1, 1, outputs}, .strides = {0, 0, 0, 0, outputs > 1 ? 1 : 0}};
  return finished(site, *form, convolution_of(site, form->dense.source, form->dense.weights), bias);
}

std::expected<Quantised, Refusal> quantised_product_of(const Site& site) {
  const bool flips = site.anchor->op_type == "Gemm" && attribute_or<std::int64_t>(*site.anchor, "transB", 0) != 0;
  auto form = form_of(site, flips ? 0 : 1);
  if (!form) return form;
  const auto dense = product_of(site, form->dense.source, form->dense.weights);
  std::optional<View> bias;
  if (dense && form->dense.bias.valid()) bias = view_of(site.extents(form->dense.bias), plain(), dense->space);
  return finished(site, *form, dense, bias);
}

}  // namespace collage::native
