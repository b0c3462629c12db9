#include "check_program.h"

#include <algorithm>
#include <set>

namespace collage::xnnpack {
namespace {

/// The library's arrays have so many.
constexpr std::size_t kMostAxes = 6;
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

bool are_sizes(const Extents& extents) {
  return extents.size() <= kMostAxes &&
         std::ranges::all_of(extents, [](std::int64_t extent) { return extent >= 0 && extent <= kMostElements; }) &&
         element_count(extents) <= kMostElements;
}

std::size_t least_inputs(OpKind kind) {
  switch (kind) {
    case OpKind::kConvolution:
    case OpKind::kDepthwiseConvolution:
    case OpKind::kDeconvolution:
    case OpKind::kFullyConnected:
    case OpKind::kBatchMatMul:
    case OpKind::kBinary:
      return 2;
    default:
      return 1;
  }
}

class Check {
 public:
  explicit Check(const Program& program) : program_(program), written_(program.tensors.size(), false) {
    for (std::size_t i = 0; i < written_.size(); ++i)
      written_[i] = program.tensors[i].role != Role::kOutput && program.tensors[i].role != Role::kTemporary;
  }

  Result<void> run() {
    for (const TensorInfo& tensor : program_.tensors)
      if (!are_sizes(tensor.extents)) return bad_artifact("a tensor beyond all memory");
    for (const Op& op : program_.ops) {
      if (op.inputs.size() < least_inputs(op.kind)) return bad_artifact("an operation without inputs");
      if (!exists(op.output) || !std::ranges::all_of(op.inputs, [&](int input) { return exists(input); }))
        return bad_artifact("an operation on a tensor that does not exist");
      if (!std::ranges::all_of(op.inputs, [&](int input) { return written_[at(input)]; }))
        return bad_artifact("a tensor that is read before it is written");
      if (written_[at(op.output)]) return bad_artifact("a tensor that is written twice");
      if (!fits(op)) return bad_artifact("an operation on tensors that do not fit it");
      written_[at(op.output)] = true;
    }
    return {};
  }

 private:
  static std::size_t at(int tensor) { return static_cast<std::size_t>(tensor); }
  [[nodiscard]] bool exists(int tensor) const { return tensor >= 0 && tensor < std::ssize(program_.tensors); }
  [[nodiscard]] const Extents& extents(int tensor) const { return program_.tensors[at(tensor)].extents; }

  [[nodiscard]] bool fits(const Op& op) const {
    const Extents& source = extents(op.inputs[0]);
    const Extents& output = extents(op.output);
    switch (op.kind) {
      case OpKind::kUnary:
      case OpKind::kSoftmax:
        return source == output;
      case OpKind::kReshape:
        return element_count(source) == element_count(output);
      case OpKind::kTranspose:
        return are_axes(op.axes, source.size()) && op.axes.size() == source.size();
      case OpKind::kReduction:
        return are_axes(op.axes, source.size());
      case OpKind::kConcat:
        return are_axes(op.axes, output.size()) && op.axes.size() == 1 &&
               adds_up(op, static_cast<std::size_t>(op.axes[0]));
      case OpKind::kPad:
        return is_padded(op, source, output);
      default:
        return true;
    }
  }

  /// Different ones of so many.
  static bool are_axes(const Extents& axes, std::size_t rank) {
    return std::ranges::all_of(
               axes, [&](std::int64_t axis) { return axis >= 0 && axis < static_cast<std::int64_t>(rank); }) &&
           std::set<std::int64_t>(axes.begin(), axes.end()).size() == axes.size();
  }

  [[nodiscard]] bool adds_up(const Op& op, std::size_t axis) const {
    const Extents& output = extents(op.output);
    std::int64_t joined = 0;
    for (const int input : op.inputs) {
      Extents part = extents(input);
      if (part.size() != output.size()) return false;
      joined += part[axis];
      part[axis] = output[axis];
      if (part != output) return false;
    }
    return joined == output[axis];
  }

  static bool is_padded(const Op& op, const Extents& source, const Extents& output) {
    if (op.begin.size() != source.size() || op.end.size() != source.size() || output.size() != source.size())
      return false;
    for (std::size_t axis = 0; axis < source.size(); ++axis) {
      if (op.begin[axis] < 0 || op.end[axis] < 0 || op.begin[axis] > kMostElements || op.end[axis] > kMostElements)
        return false;
      if (op.begin[axis] + source[axis] + op.end[axis] != output[axis]) return false;
    }
    return true;
  }

  const Program& program_;
  std::vector<bool> written_;
};

}  // namespace

Result<void> check_program(const Program& program) { return Check(program).run(); }

}  // namespace collage::xnnpack
