// The strides of a static tensor's elements in the two common formats.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/type.h"
#include "region/format.h"

namespace collage::host {

using Strides = std::vector<std::int64_t>;

/// Elements between neighbours along each axis (axes in ONNX order). channels_last needs rank 3 to 5.
[[nodiscard]] Strides strides_of(const Extents& extents, const Format& format);

/// One axis that two tensors share, with its stride in each.
struct SharedAxis {
  std::int64_t extent = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
};

/// The finest axes that both shapes of a reshape are products of; nothing when one cuts across the other's axes.
/// Example: [2,12] and [8,3] share [2,4,3]; [2,3] and [3,2] share nothing.
[[nodiscard]] std::optional<std::vector<SharedAxis>> shared_axes(const Extents& from, const Strides& from_strides,
                                                                 const Extents& to, const Strides& to_strides);

}  // namespace collage::host
