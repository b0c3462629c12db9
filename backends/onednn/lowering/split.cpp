#include "lowering/split.h"

#include <algorithm>
#include <optional>

#include "primitives/split.h"

namespace collage::onednn {
namespace {

TensorInfo& tensor_of(Program& program, int index) { return program.tensors[static_cast<std::size_t>(index)]; }

/// The axis of the weights over which a product sums together with the rows of its source.
std::optional<int> summed_axis(const Op& op, const TensorInfo& source, const TensorInfo& weights) {
  switch (op.kind) {
    case OpKind::kConvolution:
      // With groups the weights have another axis.
      if (weights.extents.size() != source.extents.size() || source.layout != Layout::kChannelsLast)
        return std::nullopt;
      return 1;
    case OpKind::kInnerProduct:
      return 1;
    case OpKind::kMatMul:
      return static_cast<int>(weights.extents.size()) - 2;
    default:
      return std::nullopt;
  }
}

bool can_be_split(const TensorInfo& source, const TensorInfo& weights) {
  return source.role != Role::kConstant && source.role != Role::kLiteral && source.type == ElementType::kFloat32 &&
         is_dense(source) && weights.role == Role::kConstant && weights.type == ElementType::kFloat32 &&
         weights.stored.empty();
}

/// The axis along which the weights of this product are split; nothing for what stays as it is.
std::optional<int> split_axis(const Op& op, Program& program) {
  if (op.inputs.size() < 2) return std::nullopt;
  const TensorInfo& source = tensor_of(program, op.inputs[0]);
  const TensorInfo& weights = tensor_of(program, op.inputs[1]);
  return can_be_split(source, weights) ? summed_axis(op, source, weights) : std::nullopt;
}

std::uint32_t next_temporary(const Program& program) {
  std::uint32_t next = 0;
  for (const TensorInfo& tensor : program.tensors)
    if (tensor.role == Role::kTemporary) next = std::max(next, tensor.index + 1);
  return next;
}

/// The operation that splits the source of a product.
Op split_source(Program& program, int source) {
  TensorInfo parts = tensor_of(program, source);
  parts.extents[row_axis(parts)] *= kSplitParts;
  parts.role = Role::kTemporary;
  parts.index = next_temporary(program);
  parts.type = ElementType::kBfloat16;
  parts.strides = {};
  parts.offset = 0;
  program.tensors.push_back(std::move(parts));
  return {.kind = OpKind::kSplit, .inputs = {source}, .output = static_cast<int>(program.tensors.size()) - 1};
}

}  // namespace

std::expected<Lowered, Refusal> split(Lowered lowered) {
  Program& program = lowered.program;
  std::vector<Op> ops;
  bool has_split = false;
  for (Op& op : program.ops) {
    if (const auto axis = split_axis(op, program)) {
      TensorInfo& weights = tensor_of(program, op.inputs[1]);
      weights.type = ElementType::kBfloat16;
      weights.split_axis = *axis;
      weights.extents[static_cast<std::size_t>(*axis)] *= kSplitParts;
      ops.push_back(split_source(program, op.inputs[0]));
      op.inputs[0] = ops.back().output;
      has_split = true;
    }
    ops.push_back(std::move(op));
  }
  if (!has_split)
    return std::unexpected(Refusal{RefusalReason::kStructure, "no product of rows of f32 with constant weights"});
  program.ops = std::move(ops);
  return lowered;
}

}  // namespace collage::onednn
