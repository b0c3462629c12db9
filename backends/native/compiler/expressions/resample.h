// Where the pixels of a Resize come from: taps and weights along each axis, as tables inside the code.
// In: a Resize node of constant sizes. Out: for each resampled axis its taps.
// Cost: two small tables an axis; none where the scale is a whole number and the pixel is one of the input's.
// Source: ONNX, Resize-19: nearest, linear and cubic; antialias and tf_crop_and_resize are not here.
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
