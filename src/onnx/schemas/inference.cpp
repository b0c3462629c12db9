#include "onnx/schemas/inference.h"

#include <onnx/defs/schema.h>

namespace collage {

bool has_input_shape(InferenceContext& context, std::size_t input) { return pb::hasInputShape(context, input); }

const pb::TensorShapeProto& input_shape(InferenceContext& context, std::size_t input) {
  return pb::getInputShape(context, input);
}

bool has_output(InferenceContext& context, std::size_t output) { return output < context.getNumOutputs(); }

std::int64_t int_of(InferenceContext& context, const char* name, std::int64_t fallback) {
  const auto* attribute = context.getAttribute(name);
  return attribute ? attribute->i() : fallback;
}

void pass_element(InferenceContext& context, std::size_t input, std::size_t output) {
  if (has_output(context, output) && input < context.getNumInputs() && context.getInputType(input) != nullptr)
    pb::propagateElemTypeFromInputToOutput(context, input, output);
}

void pass_through(InferenceContext& context, std::size_t input, std::size_t output) {
  if (!has_output(context, output) || input >= context.getNumInputs()) return;
  pass_element(context, input, output);
  if (has_input_shape(context, input)) pb::propagateShapeFromInputToOutput(context, input, output);
}

void same_as_first(InferenceContext& context) { pass_through(context, 0, 0); }

pb::InferenceFunction same_as(const char* op, int version) {
  return [op, version](InferenceContext& context) {
    if (const auto* schema = pb::OpSchemaRegistry::Schema(op, version))
      schema->GetTypeAndShapeInferenceFunction()(context);
  };
}

pb::InferenceFunction broadcast_of(std::size_t a, std::size_t b) {
  return [a, b](InferenceContext& context) {
    pass_element(context, a, 0);
    if (!has_input_shape(context, a) || !has_input_shape(context, b)) return;
    pb::bidirectionalBroadcastShapeInference(input_shape(context, a), input_shape(context, b),
                                             *context.getOutputType(0)->mutable_tensor_type()->mutable_shape());
  };
}

void infer_product(InferenceContext& context, std::size_t a, std::size_t b, Transposed transposed) {
  if (!has_input_shape(context, a) || !has_input_shape(context, b)) return;
  pb::TensorShapeProto left = input_shape(context, a);
  pb::TensorShapeProto right = input_shape(context, b);
  const int left_rank = left.dim_size();
  const int right_rank = right.dim_size();
  if (left_rank < 2 || right_rank < 2) return;
  if (transposed.a) left.mutable_dim()->SwapElements(left_rank - 1, left_rank - 2);
  if (transposed.b) right.mutable_dim()->SwapElements(right_rank - 1, right_rank - 2);
  pb::TensorShapeProto left_batch;
  pb::TensorShapeProto right_batch;
  for (int i = 0; i < left_rank - 2; ++i) *left_batch.add_dim() = left.dim(i);
  for (int i = 0; i < right_rank - 2; ++i) *right_batch.add_dim() = right.dim(i);
  pb::TensorShapeProto out;
  pb::bidirectionalBroadcastShapeInference(left_batch, right_batch, out);
  *out.add_dim() = left.dim(left_rank - 2);
  *out.add_dim() = right.dim(right_rank - 1);
  pb::updateOutputShape(context, 0, out);
}

}  // namespace collage
