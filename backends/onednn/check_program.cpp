#include "check_program.h"

#include <algorithm>
#include <optional>

#include "library.h"
#include "primitives/primitives.h"

namespace collage::onednn {
namespace {

/// More axes than the library has.
constexpr std::size_t kMostAxes = 12;
constexpr std::size_t kMostBlockedAxes = 5;
/// Of extents, strides and offsets, so that their products of bytes do not overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

std::unexpected<Error> bad(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, std::move(saw), "an artifact of this backend");
}

bool are_sizes(const Extents& numbers) {
  return numbers.size() <= kMostAxes &&
         std::ranges::all_of(numbers, [](std::int64_t number) { return number >= 0 && number <= kMostElements; });
}

/// Elements from the first to the last, by strides; nothing where they are more than memory has.
std::optional<std::int64_t> span_of(const Extents& extents, const Extents& strides) {
  if (std::ranges::any_of(extents, [](std::int64_t extent) { return extent == 0; })) return 0;
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::int64_t far = 0;
    if (__builtin_mul_overflow(extents[axis] - 1, strides[axis], &far) || far > kMostElements) return std::nullopt;
    last += far;
    if (last > kMostElements) return std::nullopt;
  }
  return last + 1;
}

/// From the first to the last byte; the library counts a part of a tensor as if it went on to the end of its rows.
std::size_t bytes_of(const TensorInfo& tensor) {
  if (tensor.strides.empty()) return describe(tensor).get_size();
  return byte_count(tensor.type, {span_of(tensor.extents, tensor.strides).value_or(kMostElements)});
}

bool fits_itself(const TensorInfo& tensor, std::size_t tensors) {
  const Extents& axes = tensor.stored.empty() ? tensor.extents : tensor.stored;
  if (!are_sizes(tensor.extents) || !are_sizes(tensor.stored) || !are_sizes(tensor.strides)) return false;
  if (element_count(tensor.extents) > kMostElements || element_count(tensor.stored) > kMostElements) return false;
  if (tensor.offset < 0 || tensor.offset > kMostElements) return false;
  if (!tensor.strides.empty() && (tensor.strides.size() != axes.size() || !span_of(axes, tensor.strides))) return false;
  if (!tensor.stored.empty() && tensor.strides.empty()) return false;
  if (tensor.layout == Layout::kBlocked && tensor.extents.size() > kMostBlockedAxes) return false;
  if (!tensor.positions.empty() && tensor.extents.size() != 2) return false;
  // A temporary of each index has memory.
  return tensor.role != Role::kTemporary || tensor.index < tensors;
}

std::size_t least_inputs(OpKind kind) {
  switch (kind) {
    case OpKind::kConvolution:
    case OpKind::kDeconvolution:
    case OpKind::kMatMul:
    case OpKind::kInnerProduct:
    case OpKind::kBinary:
    case OpKind::kPrelu:
    case OpKind::kLayerNorm:
      return 2;
    case OpKind::kBatchNorm:
      return 5;
    default:
      return 1;
  }
}

/// Kinds whose result version 2 of the library takes to be like the source, wherever it lies.
bool is_alike(OpKind kind) {
  return kind == OpKind::kEltwise || kind == OpKind::kPrelu || kind == OpKind::kLayerNorm ||
         kind == OpKind::kBatchNorm || kind == OpKind::kLrn;
}

bool has_window(OpKind kind) {
  return kind == OpKind::kConvolution || kind == OpKind::kDeconvolution || kind == OpKind::kPooling ||
         kind == OpKind::kResampling;
}

class Check {
 public:
  explicit Check(const Program& program) : program_(program) {}

  [[nodiscard]] Result<void> run() const {
    for (const TensorInfo& tensor : program_.tensors)
      if (!fits_itself(tensor, program_.tensors.size())) return bad("a tensor that does not fit itself");
    for (const Op& op : program_.ops) {
      if (op.inputs.size() < least_inputs(op.kind)) return bad("an operation without inputs");
      if (!exists(op.output) || !std::ranges::all_of(op.inputs, [&](int input) { return exists(input); }))
        return bad("an operation on a tensor that does not exist");
      if (!fits(op)) return bad("an operation on tensors that do not fit it");
      if (!scales_fit(op)) return bad("scales that do not fit their operation");
      for (const PostOp& post : op.post)
        if (!fits(op, post)) return bad("an operation after another that does not fit it");
    }
    return {};
  }

 private:
  [[nodiscard]] bool exists(int tensor) const { return tensor >= 0 && tensor < std::ssize(program_.tensors); }
  [[nodiscard]] const TensorInfo& tensor(int index) const { return program_.tensors[static_cast<std::size_t>(index)]; }
  [[nodiscard]] std::size_t rank(int index) const { return tensor(index).extents.size(); }

  /// What the library does not look at: where it writes, and how long the vectors of a normalisation are.
  [[nodiscard]] bool fits(const Op& op) const {
    const TensorInfo& source = tensor(op.inputs[0]);
    const TensorInfo& output = tensor(op.output);
    if (output.role != Role::kOutput && output.role != Role::kTemporary) return false;
    if (is_alike(op.kind) && (source.extents != output.extents || bytes_of(source) != bytes_of(output))) return false;
    if (has_window(op.kind) && (source.extents.size() < 3 || output.extents.size() < 3)) return false;
    if (op.kind == OpKind::kBatchNorm || op.kind == OpKind::kLayerNorm) {
      const std::size_t channels = op.kind == OpKind::kBatchNorm ? 1 : source.extents.size() - 1;
      if (channels >= source.extents.size()) return false;
      for (std::size_t i = 1; i < op.inputs.size(); ++i)
        if (tensor(op.inputs[i]).extents != Extents{source.extents[channels]}) return false;
    }
    return true;
  }

  /// Scales are literals of f32, zero points of i32: one number each, but for the scales of weights, of which there may
  /// be one for each channel of the result. The library reads as many as there are channels.
  [[nodiscard]] bool scales_fit(const Op& op) const {
    const Extents& result = tensor(op.output).extents;
    const auto has = [&](int index, ElementType type, bool may_be_list) {
      if (index == -1) return true;
      if (!exists(index)) return false;
      const TensorInfo& literal = tensor(index);
      if (literal.role != Role::kLiteral || literal.type != type || literal.numbers.empty()) return false;
      if (literal.numbers.size() == 1) return true;
      const std::size_t channels = op.kind == OpKind::kMatMul ? result.size() - 1 : 1;
      return may_be_list && result.size() > channels && std::ssize(literal.numbers) == result[channels];
    };
    const Scaling& scaling = op.scaling;
    return has(scaling.source, ElementType::kFloat32, false) && has(scaling.result, ElementType::kFloat32, false) &&
           has(scaling.weights, ElementType::kFloat32, true) && has(scaling.source_zero, ElementType::kInt32, false) &&
           has(scaling.weights_zero, ElementType::kInt32, false) &&
           has(scaling.result_zero, ElementType::kInt32, false);
  }

  [[nodiscard]] bool fits(const Op& op, const PostOp& post) const {
    switch (post.kind) {
      case PostOp::Kind::kBinary:
        return exists(post.tensor);
      case PostOp::Kind::kPrelu:
        return exists(post.tensor) && rank(post.tensor) >= 2;
      case PostOp::Kind::kDepthwise:
        return exists(post.tensor) && exists(post.second) && op.inputs.size() >= 2 && rank(op.inputs[0]) >= 2 &&
               rank(op.inputs[1]) >= 1;
      default:
        return true;
    }
  }

  const Program& program_;
};

}  // namespace

Result<void> check_program(const Program& program) { return Check(program).run(); }

Result<void> check_ports(const Program& program, std::span<const Port> inputs, std::span<const Port> outputs,
                         const std::function<std::optional<std::size_t>(const Port&)>& port_bytes) {
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.role != Role::kInput && tensor.role != Role::kOutput) continue;
    const std::span<const Port> ports = tensor.role == Role::kInput ? inputs : outputs;
    if (tensor.index >= ports.size()) return bad("port " + std::to_string(tensor.index));
    const auto has = port_bytes(ports[tensor.index]);
    if (!has) return bad("port " + ports[tensor.index].name + " in format " + ports[tensor.index].place.format.name);
    const std::size_t needs = bytes_of(tensor) + byte_count(tensor.type, {tensor.offset});
    if (needs > *has)
      return bad(std::to_string(needs) + " of the " + std::to_string(*has) + " bytes of " + ports[tensor.index].name);
  }
  return {};
}

}  // namespace collage::onednn
