// The source pixels of a Resize and their weights along each axis, as tables inside the code.
// In:  a Resize node with constant sizes. Out: for each resampled axis its source pixels and weights.
// Cost: two small tables for an axis; none where the scale is an integer and each output pixel is one input pixel.
// Source: ONNX, Resize-19: nearest, linear and cubic. Antialias and tf_crop_and_resize are not supported.
#pragma once

#include <Halide.h>

#include <vector>

#include "ir/graph.h"

namespace collage::native {

struct ResampledAxis {
  std::size_t axis = 0;
  std::int64_t extent = 0;  ///< of the input
  std::size_t taps = 1;
  std::int64_t repeats = 0;            ///< nearest by a whole number: source = index / repeats; 0 = by the tables
  Halide::Buffer<int> sources = {};    ///< [taps, output]
  Halide::Buffer<float> weights = {};  ///< likewise; unused for one tap
  [[nodiscard]] Halide::Expr source(std::size_t tap, const Halide::Expr& at) const;
  [[nodiscard]] Halide::Expr weight(std::size_t tap, const Halide::Expr& at) const;
};

struct Resample {
  std::vector<ResampledAxis> axes;  ///< those whose extent or place changes
};

[[nodiscard]] bool is_known_resize(const Graph& graph, const Node& node);
/// Precondition: is_known_resize().
[[nodiscard]] Resample resample_of(const Graph& graph, const Node& node);

}  // namespace collage::native
