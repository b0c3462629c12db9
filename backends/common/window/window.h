// Computes the windows of convolutions and poolings, with all padding rules of ONNX resolved to numbers.
#pragma once

#include <expected>

#include "ir/graph.h"
#include "region/refusal.h"

namespace collage {

/// Per spatial axis. `end` may be smaller than what the model says when the last windows do not reach it, and larger
/// when ceil_mode lets a window stick out.
struct Window {
  Extents kernel, strides, dilations, begin, end;
  bool sticks_out = false;  ///< some window goes past the padding that the model gives
  bool operator==(const Window&) const = default;
};

/// Window of Conv, MaxPool, AveragePool and their like over `in` -> `out` spatial extents. `extra_begin` and
/// `extra_end` are zeros that a Pad before the node adds; empty for none.
[[nodiscard]] std::expected<Window, Refusal> window_of(const Node& node, const Extents& kernel, const Extents& in,
                                                       const Extents& out, const Extents& extra_begin = {},
                                                       const Extents& extra_end = {});

/// Window of ConvTranspose: begin and end are what is cut off its full output.
[[nodiscard]] std::expected<Window, Refusal> transposed_window_of(const Node& node, const Extents& kernel,
                                                                  const Extents& in, const Extents& out);

/// The spatial part of an activation's extents.
[[nodiscard]] inline Extents spatial(const Extents& extents) {
  return extents.size() < 2 ? Extents{} : Extents(extents.begin() + 2, extents.end());
}

}  // namespace collage
