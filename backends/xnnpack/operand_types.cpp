#include "operand_types.h"

#include <algorithm>

namespace collage::xnnpack {
namespace {

bool is_byte_or_real(const TensorInfo& tensor) {
  return tensor.type == ElementType::kFloat32 || tensor.type == ElementType::kInt8 ||
         tensor.type == ElementType::kUint8;
}

/// Of a value that is computed or computed with: one scale.
bool is_value(const TensorInfo& tensor) { return is_byte_or_real(tensor) && tensor.channel_axis < 0; }

bool is_known_at_load(const TensorInfo& tensor) {
  return tensor.role == Role::kConstant || tensor.role == Role::kLiteral;
}

/// The library packs weights and bias once: both are known. Products of real numbers take weights in bytes, too.
bool has_packed_operands(const Program& program, const Op& op) {
  const auto operand = [&](std::size_t at) -> const TensorInfo& {
    return program.tensors[static_cast<std::size_t>(op.inputs[at])];
  };
  const ElementType type = operand(0).type;
  const bool is_real = type == ElementType::kFloat32;
  const TensorInfo& weights = operand(1);
  const bool is_scaled = is_real && op.kind == OpKind::kFullyConnected && weights.type == ElementType::kInt8;
  if (!is_known_at_load(weights) || (weights.type != type && !is_scaled)) return false;
  if (op.inputs.size() < 3) return true;
  const TensorInfo& bias = operand(2);
  return is_known_at_load(bias) && bias.type == (is_real ? ElementType::kFloat32 : ElementType::kInt32);
}

}  // namespace

bool has_fitting_types(const Program& program, const Op& op) {
  const auto tensor = [&](int index) -> const TensorInfo& { return program.tensors[static_cast<std::size_t>(index)]; };
  const TensorInfo& source = tensor(op.inputs[0]);
  const TensorInfo& result = tensor(op.output);
  if (!is_value(source) || !is_value(result)) return false;
  if (op.kind == OpKind::kUnary && op.algorithm == "convert") return true;
  if (source.type != result.type) return false;
  switch (op.kind) {
    case OpKind::kConvolution:
    case OpKind::kDepthwiseConvolution:
    case OpKind::kDeconvolution:
    case OpKind::kFullyConnected:
      return has_packed_operands(program, op);
    case OpKind::kBatchMatMul:
    case OpKind::kAveragePooling:
    case OpKind::kSoftmax:
      if (source.type != ElementType::kFloat32) return false;
      break;
    default:
      break;
  }
  return std::ranges::all_of(op.inputs,
                             [&](int input) { return is_value(tensor(input)) && tensor(input).type == source.type; });
}

}  // namespace collage::xnnpack
