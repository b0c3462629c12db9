// The loop axes of a region, and how its tensors are indexed by them.
// In:  extents, formats, groups of axes. Out: views with extents and strides.
// How: neighbouring ONNX axes of the result become one loop axis where all tensors allow it. A sum of plain tensors of
//       rank 5 is thus one loop; one of channels_last tensors with a bias by channel is two.
// Cost: linear in rank and values.
// Source: the collapsing of dimensions in NumPy's iterators and TensorFlow's broadcast kernels.
#pragma once

#include <optional>
#include <vector>

#include "ir/type.h"
#include "region/format.h"
#include "region/memory_order.h"

namespace collage::native {

/// Loop axes, outer to inner.
struct Space {
  Extents result;                              ///< ONNX extents that the axes stand for
  std::vector<std::vector<std::size_t>> axes;  ///< ONNX axes of each loop axis, outer to inner; none = one place

  [[nodiscard]] std::size_t rank() const { return axes.size(); }
  [[nodiscard]] std::int64_t extent(std::size_t axis) const;
  /// Of all loop axes.
  [[nodiscard]] Extents extents() const;
  bool operator==(const Space&) const = default;
};

/// A tensor along loop axes: extent 1 where it does not vary.
struct View {
  Extents extents;
  Extents strides;  ///< elements; 0 where the extent is 1
  auto operator<=>(const View&) const = default;
};

/// Extents with 1s in front, to `rank` axes.
[[nodiscard]] Extents aligned(const Extents& extents, std::size_t rank);

/// Every axis of `own`, aligned at the last one, is 1 or as in `result`.
[[nodiscard]] bool broadcasts_to(const Extents& own, const Extents& result);

/// Batch, depth, height, width, channels over an activation [batch, channels, one to three spatial axes]; missing
/// spatial axes come first and have one place.
[[nodiscard]] Space activation_space(const Extents& extents);

/// Strides of a dense tensor in one of the two common formats, by ONNX axis.
[[nodiscard]] Extents strides_of(const Extents& extents, const Format& format);

/// How a tensor that broadcasts to the space's result lies in it; nothing when it cannot be seen so.
[[nodiscard]] std::optional<View> view_of(const Extents& extents, const Format& format, const Space& space);

/// The space with the fewest axes, in memory order of `format`, in which all of these tensors can be seen.
struct Shaped {
  Extents extents;
  Format format;
};
[[nodiscard]] Space collapsed_space(const Extents& result, const Format& format, const std::vector<Shaped>& tensors);

}  // namespace collage::native
