#include "result_extents.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "ir/broadcast.h"

namespace collage::xnnpack {
namespace {

using MaybeExtents = std::optional<Extents>;

/// Of the sides of images and windows: products of two such numbers fit 64 bits.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 30;
/// Beyond that many the library's positions of pixels, which are f32, are rounded to the next pixel.
constexpr std::int64_t kMostResized = std::int64_t{1} << 22;
/// The library makes a list of the addresses that all windows read.
constexpr std::int64_t kMostAddresses = std::int64_t{1} << 32;
/// The library counts the bytes of a group's packed weights with 32 bits.
constexpr std::int64_t kMostPacked = std::int64_t{1} << 29;

bool are_between(const Extents& numbers, std::int64_t least, std::int64_t most) {
  return std::ranges::all_of(numbers, [&](std::int64_t number) { return number >= least && number <= most; });
}

bool is_pair(const Extents& numbers, std::int64_t least) {
  return numbers.size() == 2 && are_between(numbers, least, kMostPixels);
}

/// Different ones of so many.
bool are_axes(const Extents& axes, std::size_t rank) {
  return are_between(axes, 0, static_cast<std::int64_t>(rank) - 1) &&
         std::set<std::int64_t>(axes.begin(), axes.end()).size() == axes.size();
}

bool is_image(const Extents& extents) {
  return extents.size() == 4 && extents[1] <= kMostPixels && extents[2] <= kMostPixels;
}

/// Numbers of a window are there for both axes. Poolings have no use for some of them.
bool has_window(const Op& op) {
  return is_pair(op.kernel, 1) && is_pair(op.strides, 1) && is_pair(op.dilations, 1) && is_pair(op.begin, 0) &&
         is_pair(op.end, 0) && element_count(op.kernel) <= kMostPixels;
}

bool is_product_within(std::initializer_list<std::int64_t> factors, std::int64_t most) {
  return element_count(Extents(factors)) <= most;
}

/// Packed weights have whole blocks of channels, which are no larger than these.
bool can_be_packed(const Op& op, std::int64_t in, std::int64_t out) {
  const auto blocks = [](std::int64_t channels, std::int64_t block) { return (channels + block - 1) / block * block; };
  return is_product_within({op.kernel[0], op.kernel[1], blocks(in, 16), blocks(out, 64)}, kMostPacked);
}

bool has_few_addresses(const Op& op, const Extents& result) {
  return is_product_within({op.kernel[0], op.kernel[1], result[1], result[2]}, kMostAddresses);
}

/// Pixels from the first to the last that a window reads.
std::int64_t reach(const Op& op, std::size_t axis) { return (op.kernel[axis] - 1) * op.dilations[axis] + 1; }

/// The image that a window slides over becomes one of so many channels.
MaybeExtents slid(const Op& op, const Extents& source, std::int64_t channels) {
  Extents result = {source[0], 0, 0, channels};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t room = op.begin[axis] + source[axis + 1] + op.end[axis] - reach(op, axis);
    if (room < 0) return std::nullopt;
    result[axis + 1] = room / op.strides[axis] + 1;
  }
  return has_few_addresses(op, result) ? MaybeExtents(result) : std::nullopt;
}

/// A bias has a number for each channel; without one all is well.
bool has_bias_of(const Op& op, const Program& program, std::int64_t channels) {
  return op.inputs.size() < 3 || program.tensors[static_cast<std::size_t>(op.inputs[2])].extents == Extents{channels};
}

class Inference {
 public:
  Inference(const Program& program, const Op& op) : program_(program), op_(op), source_(in(0)) {}

  [[nodiscard]] MaybeExtents run() const {
    switch (op_.kind) {
      case OpKind::kConvolution:
        return convolution();
      case OpKind::kDepthwiseConvolution:
        return depthwise();
      case OpKind::kDeconvolution:
        return deconvolution();
      case OpKind::kFullyConnected:
        return fully_connected();
      case OpKind::kBatchMatMul:
        return product();
      case OpKind::kMaxPooling:
      case OpKind::kAveragePooling:
        return pooling();
      case OpKind::kReduction:
        return reduction();
      case OpKind::kUnary:
      case OpKind::kSoftmax:
        return source_;
      case OpKind::kBinary:
        return broadcast_extents(source_, in(1));
      case OpKind::kTranspose:
        return transposition();
      case OpKind::kReshape:
        return element_count(source_) == element_count(declared()) ? MaybeExtents(declared()) : std::nullopt;
      case OpKind::kConcat:
        return concatenation();
      case OpKind::kPad:
        return padding();
      case OpKind::kResize:
        return resized();
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const Extents& of(int tensor) const {
    return program_.tensors[static_cast<std::size_t>(tensor)].extents;
  }
  [[nodiscard]] const Extents& in(std::size_t at) const { return of(op_.inputs[at]); }
  /// What the program says of the result: the library is told the new extents of a reshape and of a resized image.
  [[nodiscard]] const Extents& declared() const { return of(op_.output); }

  /// Weights are [out, window, in of a group].
  [[nodiscard]] bool has_grouped_weights() const {
    const Extents& weights = in(1);
    return is_image(source_) && has_window(op_) && weights.size() == 4 && weights[1] == op_.kernel[0] &&
           weights[2] == op_.kernel[1] && op_.groups >= 1 && op_.groups <= kMostPixels &&
           weights[0] % op_.groups == 0 && source_[3] % op_.groups == 0 && weights[3] == source_[3] / op_.groups &&
           can_be_packed(op_, weights[3], weights[0] / op_.groups) && has_bias_of(op_, program_, weights[0]);
  }

  [[nodiscard]] MaybeExtents convolution() const {
    return has_grouped_weights() ? slid(op_, source_, in(1)[0]) : std::nullopt;
  }

  [[nodiscard]] MaybeExtents depthwise() const {
    const Extents& weights = in(1);
    if (!is_image(source_) || !has_window(op_) || weights.size() != 4) return std::nullopt;
    if (weights[0] != 1 || weights[1] != op_.kernel[0] || weights[2] != op_.kernel[1]) return std::nullopt;
    if (weights[3] % source_[3] != 0 || !can_be_packed(op_, 1, weights[3])) return std::nullopt;
    return has_bias_of(op_, program_, weights[3]) ? slid(op_, source_, weights[3]) : std::nullopt;
  }

  [[nodiscard]] MaybeExtents deconvolution() const {
    if (!has_grouped_weights() || !is_pair(op_.adjustment, 0)) return std::nullopt;
    Extents result = {source_[0], 0, 0, in(1)[0]};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (op_.adjustment[axis] >= op_.strides[axis]) return std::nullopt;
      const std::int64_t full = op_.strides[axis] * (source_[axis + 1] - 1) + op_.adjustment[axis] + reach(op_, axis);
      result[axis + 1] = full - op_.begin[axis] - op_.end[axis];
      if (result[axis + 1] < 1) return std::nullopt;
    }
    return has_few_addresses(op_, result) ? MaybeExtents(result) : std::nullopt;
  }

  /// Weights are [out, in], or [in, out] when transposed.
  [[nodiscard]] MaybeExtents fully_connected() const {
    const Extents& weights = in(1);
    if (weights.size() != 2 || source_.back() != weights[op_.transposed ? 0 : 1]) return std::nullopt;
    Extents result = source_;
    result.back() = weights[op_.transposed ? 1 : 0];
    return has_bias_of(op_, program_, result.back()) ? MaybeExtents(result) : std::nullopt;
  }

  [[nodiscard]] MaybeExtents product() const {
    Extents other = in(1);
    if (source_.size() < 2 || other.size() < 2) return std::nullopt;
    if (op_.transposed) std::swap(other[other.size() - 1], other[other.size() - 2]);
    if (source_.back() != other[other.size() - 2]) return std::nullopt;
    const auto batch = [](const Extents& extents) { return Extents(extents.begin(), extents.end() - 2); };
    MaybeExtents result = broadcast_extents(batch(source_), batch(other));
    if (result) result->insert(result->end(), {source_[source_.size() - 2], other.back()});
    return result;
  }

  [[nodiscard]] MaybeExtents pooling() const {
    if (!is_image(source_) || !has_window(op_)) return std::nullopt;
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (op_.begin[axis] >= op_.kernel[axis] || op_.end[axis] >= op_.kernel[axis]) return std::nullopt;
    const MaybeExtents result = slid(op_, source_, source_[3]);
    return result && takes_near_pixels(*result) ? result : std::nullopt;
  }

  /// With dilations the library reads, for a pixel outside of the image, the one where the window begins without its
  /// padding, which must be inside.
  [[nodiscard]] bool takes_near_pixels(const Extents& result) const {
    const bool averages = op_.kind == OpKind::kAveragePooling;
    if (op_.dilations == Extents{1, 1}) return true;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const bool is_padded = op_.begin[axis] + op_.end[axis] > 0;
      if (op_.dilations[axis] != 1 && (averages || is_padded)) return false;
      if ((result[axis + 1] - 1) * op_.strides[axis] >= source_[axis + 1]) return false;
    }
    return true;
  }

  [[nodiscard]] MaybeExtents reduction() const {
    if (op_.axes.empty() || !are_axes(op_.axes, source_.size())) return std::nullopt;
    Extents result;
    for (std::size_t axis = 0; axis < source_.size(); ++axis) {
      const bool is_reduced = std::ranges::find(op_.axes, static_cast<std::int64_t>(axis)) != op_.axes.end();
      if (!is_reduced) result.push_back(source_[axis]);
      if (is_reduced && op_.keeps_axes) result.push_back(1);
    }
    return result;
  }

  [[nodiscard]] MaybeExtents transposition() const {
    if (op_.axes.size() != source_.size() || !are_axes(op_.axes, source_.size())) return std::nullopt;
    Extents result;
    for (const std::int64_t axis : op_.axes) result.push_back(source_[static_cast<std::size_t>(axis)]);
    return result;
  }

  [[nodiscard]] MaybeExtents concatenation() const {
    if (op_.axes.size() != 1 || !are_axes(op_.axes, source_.size())) return std::nullopt;
    const auto axis = static_cast<std::size_t>(op_.axes[0]);
    Extents result = source_;
    for (std::size_t i = 1; i < op_.inputs.size(); ++i) {
      Extents part = in(i);
      if (part.size() != result.size()) return std::nullopt;
      result[axis] += part[axis];
      part[axis] = result[axis];
      if (part != result) return std::nullopt;
    }
    return result;
  }

  [[nodiscard]] MaybeExtents padding() const {
    const std::size_t rank = source_.size();
    const bool fits = op_.begin.size() == rank && op_.end.size() == rank && are_between(op_.begin, 0, kMostPixels) &&
                      are_between(op_.end, 0, kMostPixels);
    if (!fits) return std::nullopt;
    Extents result = source_;
    for (std::size_t axis = 0; axis < rank; ++axis) result[axis] += op_.begin[axis] + op_.end[axis];
    return result;
  }

  [[nodiscard]] MaybeExtents resized() const {
    const Extents& result = declared();
    if (source_.size() != 4 || result.size() != 4) return std::nullopt;
    const Extents sides = {source_[1], source_[2], result[1], result[2]};
    const bool fits = source_[0] == result[0] && source_[3] == result[3] && are_between(sides, 1, kMostResized);
    return fits ? MaybeExtents(result) : std::nullopt;
  }

  const Program& program_;
  const Op& op_;
  const Extents& source_;
};

}  // namespace

MaybeExtents result_extents(const Program& program, const Op& op) { return Inference(program, op).run(); }

}  // namespace collage::xnnpack
