#include "check_operation.h"

#include <algorithm>
#include <array>

#include "check_program.h"
#include "primitives/split.h"

namespace collage::onednn {
namespace {

/// Of the numbers of a window, and of the pixels that it and its tensors span: the library computes with these in 32
/// bits, where sums of them must not wrap.
constexpr std::int64_t kMostOfWindow = std::int64_t{1} << 24;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 30;
/// Of a pooling's window, outside of what it sees.
constexpr std::int64_t kMostPlacesBeside = std::int64_t{1} << 16;
/// Of tensors that the library's reference code walks with an index for each axis.
constexpr std::size_t kMostIndexedAxes = 5;

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

bool is_product(OpKind kind) {
  return kind == OpKind::kConvolution || kind == OpKind::kDeconvolution || kind == OpKind::kMatMul ||
         kind == OpKind::kInnerProduct;
}

bool is_convolution(OpKind kind) { return kind == OpKind::kConvolution || kind == OpKind::kDeconvolution; }

bool has_window(OpKind kind) { return is_convolution(kind) || kind == OpKind::kPooling || kind == OpKind::kResampling; }

bool are_from(std::int64_t least, std::int64_t most, const Extents& numbers) {
  return std::ranges::all_of(numbers, [&](std::int64_t number) { return number >= least && number <= most; });
}

/// Whether a tensor of these extents can be repeated to the others.
bool repeats_to(const Extents& own, const Extents& whole) {
  return std::ranges::equal(
      own, whole, [](std::int64_t extent, std::int64_t to) { return extent == 1 || (extent == to && extent > 0); });
}

bool is_depthwise(const PostOp& post) { return post.kind == PostOp::Kind::kDepthwise; }

class OperationCheck {
 public:
  OperationCheck(const Program& program, const Op& op) : program_(program), op_(op) {}

  [[nodiscard]] std::optional<std::string> run() const {
    if (op_.inputs.size() < least_inputs(op_.kind)) return "an operation without inputs";
    if (!exists(op_.output) || !std::ranges::all_of(op_.inputs, [&](int input) { return exists(input); }))
      return "an operation on a tensor that does not exist";
    if (output().role != Role::kOutput && output().role != Role::kTemporary) return "an operation that writes no port";
    if (!fits_kind()) return "an operation on tensors that do not fit it";
    if (!scales_fit()) return "scales that do not fit their operation";
    if (!posts_follow()) return "a convolution after another that cannot be there";
    for (const PostOp& post : op_.post)
      if (!fits(post)) return "an operation after another that does not fit it";
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool exists(int tensor) const { return tensor >= 0 && tensor < std::ssize(program_.tensors); }
  [[nodiscard]] const TensorInfo& tensor(int index) const { return program_.tensors[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const TensorInfo& input(std::size_t i) const { return tensor(op_.inputs[i]); }
  [[nodiscard]] const TensorInfo& output() const { return tensor(op_.output); }

  [[nodiscard]] bool fits_kind() const {
    if (is_alike(op_.kind) && !is_like_source()) return false;
    if (has_window(op_.kind) && !has_fitting_window()) return false;
    switch (op_.kind) {
      case OpKind::kBatchNorm:
        return output().extents.size() >= 2 && has_vectors_of(output().extents[1]);
      case OpKind::kLayerNorm:
        return !output().extents.empty() && has_vectors_of(output().extents.back());
      case OpKind::kSoftmax:
        return input(0).extents == output().extents;
      case OpKind::kBinary:
        return input(0).extents == output().extents && is_operand(input(1));
      case OpKind::kPrelu:
        return repeats_to(input(1).extents, output().extents);
      case OpKind::kConcat:
        return fits_concat();
      case OpKind::kSplit:
        return fits_split();
      default:
        return true;
    }
  }

  /// Whether the result is like the source. Of more axes than the library walks only dense ones are, each element for
  /// itself.
  [[nodiscard]] bool is_like_source() const {
    if (input(0).extents != output().extents || bytes_of(input(0)) != bytes_of(output())) return false;
    const bool is_dense = input(0).strides.empty() && output().strides.empty() && op_.post.empty();
    return output().extents.size() <= kMostIndexedAxes || (op_.kind == OpKind::kEltwise && is_dense);
  }

  /// Whether it can be repeated to the output. What has a number for each channel has whole blocks where the output
  /// has: the library reads whole blocks.
  [[nodiscard]] bool is_operand(const TensorInfo& tensor) const {
    const Extents& result = output().extents;
    if (!repeats_to(tensor.extents, result)) return false;
    if (output().layout != Layout::kBlocked || result.size() < 3 || result[1] % native_block() == 0) return true;
    const bool is_by_channel = tensor.extents[1] > 1 && element_count(tensor.extents) == tensor.extents[1];
    return !is_by_channel || (tensor.layout == Layout::kBlocked && tensor.strides.empty());
  }

  /// Whether all inputs but the source are dense vectors of f32.
  [[nodiscard]] bool has_vectors_of(std::int64_t channels) const {
    return std::ranges::all_of(op_.inputs.begin() + 1, op_.inputs.end(), [&](int index) {
      const TensorInfo& vector = tensor(index);
      return vector.extents == Extents{channels} && vector.type == ElementType::kFloat32 &&
             (vector.strides.empty() || vector.role == Role::kConstant);
    });
  }

  /// Whether dense rows of f32 become dense rows of bf16, alike but for their length.
  [[nodiscard]] bool fits_split() const {
    const TensorInfo &from = input(0), &to = output();
    Extents extents = from.extents;
    const bool has_rows =
        extents.size() >= (from.layout == Layout::kPlain ? 1U : 3U) && from.layout != Layout::kBlocked;
    if (!has_rows || op_.inputs.size() != 1 || !op_.post.empty()) return false;
    extents[row_axis(from)] *= kSplitParts;
    return is_dense(from) && is_dense(to) && from.layout == to.layout && to.extents == extents &&
           from.role != Role::kConstant && from.role != Role::kLiteral && from.type == ElementType::kFloat32 &&
           to.type == ElementType::kBfloat16;
  }

  [[nodiscard]] bool fits_concat() const {
    if (op_.axis < 0 || op_.axis >= std::ssize(output().extents) || !op_.post.empty()) return false;
    const auto axis = static_cast<std::size_t>(op_.axis);
    std::int64_t joined = 0;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      Extents extents = input(i).extents;
      if (extents.size() != output().extents.size()) return false;
      joined += extents[axis];
      extents[axis] = output().extents[axis];
      if (extents != output().extents) return false;
    }
    return joined == output().extents[axis];
  }

  [[nodiscard]] bool has_fitting_window() const {
    const Extents &from = input(0).extents, &to = output().extents;
    if (from.size() != to.size() || from.size() < 3 || from.size() > kMostIndexedAxes) return false;
    if (!are_from(1, kMostPixels, from) || !are_from(1, kMostPixels, to)) return false;
    if (op_.kind == OpKind::kResampling) return true;
    const std::size_t axes = from.size() - 2;
    if (op_.strides.size() != axes || op_.begin.size() != axes || op_.end.size() != axes) return false;
    if (!are_from(1, kMostOfWindow, op_.strides) || !are_from(0, kMostOfWindow, op_.begin) ||
        !are_from(-kMostOfWindow, kMostOfWindow, op_.end))
      return false;
    if (op_.kind == OpKind::kPooling) return op_.kernel.size() == axes && has_fitting_kernel();
    return op_.dilations.size() == axes && are_from(0, kMostOfWindow, op_.dilations) && has_fitting_weights(axes);
  }

  /// Whether a window of a pooling is not much larger than all there is to see: the library looks at each of its
  /// places.
  [[nodiscard]] bool has_fitting_kernel() const {
    const Extents& from = input(0).extents;
    const std::int64_t pixels = element_count(Extents(from.begin() + 2, from.end()));
    return are_from(1, kMostPixels, op_.kernel) && element_count(op_.kernel) / 4 <= pixels + kMostPlacesBeside;
  }

  /// Whether the weights of a convolution, with their dilation, span few enough pixels.
  [[nodiscard]] bool has_fitting_weights(std::size_t axes) const {
    const Extents& weights = input(1).extents;
    if ((weights.size() != axes + 2 && weights.size() != axes + 3) || !are_from(1, kMostPixels, weights)) return false;
    for (std::size_t i = 0; i < axes; ++i)
      if ((weights[weights.size() - axes + i] - 1) * (op_.dilations[i] + 1) >= kMostPixels) return false;
    return true;
  }

  /// Scales are literals of f32, zero points of i32: one number each, but for the scales of weights, of which there may
  /// be one for each channel of the result. The library reads as many as there are channels.
  [[nodiscard]] bool scales_fit() const {
    const Scaling& scaling = op_.scaling;
    if (scaling == Scaling()) return true;
    if (!is_product(op_.kind) || input(1).extents.size() < 2) return false;
    const Extents& result = output().extents;
    const auto has = [&](int index, ElementType type, bool may_be_list) {
      if (index == -1) return true;
      if (!exists(index)) return false;
      const TensorInfo& literal = tensor(index);
      if (literal.role != Role::kLiteral || literal.type != type || literal.numbers.empty()) return false;
      if (literal.numbers.size() == 1) return true;
      const std::size_t channels = op_.kind == OpKind::kMatMul ? result.size() - 1 : 1;
      return may_be_list && result.size() > channels && std::ssize(literal.numbers) == result[channels];
    };
    return has(scaling.source, ElementType::kFloat32, false) && has(scaling.result, ElementType::kFloat32, false) &&
           has(scaling.weights, ElementType::kFloat32, true) && has(scaling.source_zero, ElementType::kInt32, false) &&
           has(scaling.weights_zero, ElementType::kInt32, false) &&
           has(scaling.result_zero, ElementType::kInt32, false);
  }

  /// At most one depthwise convolution follows, after another convolution, and before it nothing that reads a tensor:
  /// what lies between the two has other extents than the output.
  [[nodiscard]] bool posts_follow() const {
    const auto second = std::ranges::find_if(op_.post, is_depthwise);
    if (second == op_.post.end()) return true;
    return op_.kind == OpKind::kConvolution && std::none_of(second + 1, op_.post.end(), is_depthwise) &&
           std::all_of(op_.post.begin(), second,
                       [](const PostOp& post) { return post.kind == PostOp::Kind::kEltwise; });
  }

  [[nodiscard]] bool fits(const PostOp& post) const {
    switch (post.kind) {
      case PostOp::Kind::kBinary:
        return exists(post.tensor) && is_operand(tensor(post.tensor));
      case PostOp::Kind::kPrelu:
        return exists(post.tensor) && is_slope(tensor(post.tensor));
      case PostOp::Kind::kDepthwise:
        return exists(post.tensor) && exists(post.second) && fits_depthwise(post);
      default:
        return true;
    }
  }

  /// Whether it has one number of f32 for all channels or for each.
  [[nodiscard]] bool is_slope(const TensorInfo& slope) const {
    const std::size_t rank = output().extents.size();
    return rank >= 2 && rank <= kMostIndexedAxes && slope.type == ElementType::kFloat32 && slope.strides.empty() &&
           is_operand(slope) && element_count(slope.extents) == slope.extents[1];
  }

  /// The one kind that the library fuses. Its weights are packed as it likes: no port has them so.
  [[nodiscard]] bool fits_depthwise(const PostOp& post) const {
    return post.kernel == 3 && (post.stride == 1 || post.stride == 2) && post.padding == 1 &&
           tensor(post.tensor).role == Role::kConstant && tensor(post.second).role == Role::kConstant &&
           output().extents.size() == 4 && output().strides.empty();
  }

  const Program& program_;
  const Op& op_;
};

}  // namespace

std::optional<std::string> misfit_of(const Program& program, const Op& op) { return OperationCheck(program, op).run(); }

}  // namespace collage::onednn
