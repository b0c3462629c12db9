#include "onnx/schemas/quantised_schemas.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/schemas/inference.h"

namespace collage {
namespace {

/// From 0 on; nothing for an axis outside of the rank.
std::optional<int> axis_in(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// [n, c, spatial...] -> [n, c, 1...], or the same with channels last. The mean of each channel.
void infer_global_pool(InferenceContext& context) {
  pass_element(context, 0, 0);
  if (!has_input_shape(context, 0)) return;
  pb::TensorShapeProto out = input_shape(context, 0);
  const int rank = out.dim_size();
  if (rank < 3) return;
  const int first = int_of(context, "channels_last", 0) != 0 ? 1 : 2;
  for (int i = 0; i < rank - 2; ++i) out.mutable_dim(first + i)->set_dim_value(1);
  pb::updateOutputShape(context, 0, out);
}

/// As AveragePool. Models with channels last are made inside of ONNX Runtime and not exported: their shape stays open.
void infer_pool(InferenceContext& context) {
  if (int_of(context, "channels_last", 0) != 0) return pass_element(context, 0, 0);
  same_as("AveragePool", 11)(context);
}

/// (scale, zero point, then tensor, scale, zero point of each part): the parts along `axis`.
void infer_concat(InferenceContext& context) {
  constexpr std::size_t kFirst = 2;
  constexpr std::size_t kStep = 3;
  pass_element(context, kFirst, 0);
  if (!has_input_shape(context, kFirst)) return;
  pb::TensorShapeProto out = input_shape(context, kFirst);
  const auto axis = axis_in(int_of(context, "axis", 0), out.dim_size());
  if (!axis) return;
  std::optional<std::int64_t> length = 0;
  for (std::size_t i = kFirst; i < context.getNumInputs(); i += kStep) {
    if (!has_input_shape(context, i) || input_shape(context, i).dim_size() != out.dim_size()) return;
    const Dimension& dim = input_shape(context, i).dim(*axis);
    std::int64_t sum = 0;
    const bool is_known = length && dim.has_dim_value() && !__builtin_add_overflow(*length, dim.dim_value(), &sum);
    length = is_known ? std::optional(sum) : std::nullopt;
  }
  out.mutable_dim(*axis)->Clear();
  if (length) out.mutable_dim(*axis)->set_dim_value(*length);
  pb::updateOutputShape(context, 0, out);
}

/// (condition, x, scale, zero point, y, scale, zero point, ...): all three broadcast.
void infer_where(InferenceContext& context) {
  pass_element(context, 1, 0);
  std::vector<const pb::TensorShapeProto*> shapes;
  for (const std::size_t input : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
    if (!has_input_shape(context, input)) return;
    shapes.push_back(&input_shape(context, input));
  }
  pb::multidirectionalBroadcastShapeInference(shapes,
                                              *context.getOutputType(0)->mutable_tensor_type()->mutable_shape());
}

/// (a [m, k], scale, zero point, b [k, n], scale, zero point, bias, scale, zero point) -> [m, n]: 8 bits where the
/// last scale is there, else float32.
void infer_gemm(InferenceContext& context) {
  constexpr std::size_t kZeroPoint = 8;
  if (kZeroPoint < context.getNumInputs() && context.getInputType(kZeroPoint) != nullptr)
    pass_element(context, kZeroPoint, 0);
  else
    pb::updateOutputElemType(context, 0, pb::TensorProto::FLOAT);
  infer_product(context, 0, 3, {.a = int_of(context, "transA", 0) != 0, .b = int_of(context, "transB", 0) != 0});
}

/// A product of inputs 0 and 1 whose numbers are of the type of another input.
auto product_in_type_of(std::size_t input) {
  return [input](InferenceContext& context) {
    pass_element(context, input, 0);
    infer_product(context, 0, 1);
  };
}

}  // namespace

std::map<std::string, pb::InferenceFunction> quantised_inference() {
  return {{"QuantizeLinear", same_as("QuantizeLinear", 13)},
          {"DequantizeLinear", same_as("DequantizeLinear", 13)},
          {"QLinearAdd", broadcast_of(0, 3)},
          {"QLinearMul", broadcast_of(0, 3)},
          {"QLinearLeakyRelu", same_as_first},
          {"QLinearSigmoid", same_as_first},
          {"QLinearSoftmax", same_as_first},
          {"QLinearGlobalAveragePool", infer_global_pool},
          {"QLinearAveragePool", infer_pool},
          {"QLinearConcat", infer_concat},
          {"QLinearWhere", infer_where},
          {"QGemm", infer_gemm},
          {"MatMulIntegerToFloat", product_in_type_of(2)},
          {"DynamicQuantizeMatMul", product_in_type_of(0)},
          {"DynamicQuantizeLSTM", same_as("LSTM", 7)}};
}

}  // namespace collage
