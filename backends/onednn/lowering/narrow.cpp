#include "lowering/narrow.h"

#include <algorithm>

namespace collage::onednn {
namespace {

constexpr ElementType kNarrow = ElementType::kBfloat16;

/// The tensors whose elements an operation multiplies with one another, or copies to its output: their types agree.
std::vector<int> paired_tensors(const Op& op) {
  switch (op.kind) {
    case OpKind::kConvolution:
    case OpKind::kDeconvolution:
    case OpKind::kMatMul:
    case OpKind::kInnerProduct:
      return {op.inputs[0], op.inputs[1]};
    case OpKind::kConcat:
      return op.inputs;
    default:
      return {};
  }
}

bool becomes_narrow(const TensorInfo& tensor, NarrowPorts ports) {
  if (tensor.type != ElementType::kFloat32) return false;
  switch (tensor.role) {
    case Role::kInput:
      return ports != NarrowPorts::kOutputs;
    case Role::kOutput:
      return ports != NarrowPorts::kInputs;
    case Role::kTemporary:
      return true;
    case Role::kConstant:
    case Role::kLiteral:
      return false;
  }
  return false;
}

/// Whether a port became narrow.
bool narrow_tensors(Lowered& lowered, NarrowPorts ports) {
  bool has_changed = false;
  for (TensorInfo& tensor : lowered.program.tensors) {
    if (!becomes_narrow(tensor, ports)) continue;
    tensor.type = kNarrow;
    if (tensor.role == Role::kTemporary) continue;
    Format& format = (tensor.role == Role::kInput ? lowered.input_formats : lowered.output_formats)[tensor.index];
    format = stored_as(format.full(), kNarrow);
    has_changed = true;
  }
  return has_changed;
}

void narrow_factors(Program& program) {
  for (const Op& op : program.ops)
    for (const int index : paired_tensors(op)) {
      TensorInfo& tensor = program.tensors[static_cast<std::size_t>(index)];
      const bool is_fixed = tensor.role == Role::kConstant || tensor.role == Role::kLiteral;
      if (is_fixed && tensor.type == ElementType::kFloat32) tensor.type = kNarrow;
    }
}

}  // namespace

std::expected<Lowered, Refusal> narrowed(Lowered lowered, NarrowPorts ports) {
  if (!narrow_tensors(lowered, ports))
    return std::unexpected(Refusal{RefusalReason::kType, "no port of f32 that could have 16-bit elements"});
  narrow_factors(lowered.program);
  // An output lies only where an input of the same element type was.
  std::erase_if(lowered.program.in_place, [&](const auto& pair) {
    return lowered.output_formats[pair.first].narrow() != lowered.input_formats[pair.second].narrow();
  });
  return lowered;
}

}  // namespace collage::onednn
