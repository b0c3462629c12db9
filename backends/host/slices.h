// The shape of work along one axis or several neighbouring axes: [outer, length, inner], where `inner` elements lie
// densely beside each other. Used by softmax, reductions and normalisations in both common formats.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/type.h"
#include "layout.h"

namespace collage::host {

struct Slices {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// How `axes` (0 <= axis < rank) lie in a dense tensor of this format; nothing when other axes lie between them.
[[nodiscard]] std::optional<Slices> slices_of(const Extents& extents, const Format& format,
                                              const std::vector<std::int64_t>& axes);

/// f32 loops over slices, from float_slices_*.cpp. `work` has room for 2 * inner floats.
struct SliceLoops {
  using Loop = void (*)(const Slices& slices, const float* in, float* out, float* work);
  Loop softmax = nullptr;
  Loop log_softmax = nullptr;
  Loop sum = nullptr;
  Loop mean = nullptr;
  Loop max = nullptr;
  Loop min = nullptr;
  Loop sum_of_squares = nullptr;
  Loop norm = nullptr;
  /// Rows of `length` (inner is 1): (x - mean) / sqrt(variance + epsilon) * scale + bias; null scale or bias: none.
  void (*layer_norm)(const Slices& slices, const float* in, float* out, const float* scale, const float* bias,
                     float epsilon) = nullptr;
  /// Rows of `length`: x / sqrt(mean of squares + epsilon) * scale.
  void (*rms_norm)(const Slices& slices, const float* in, float* out, const float* scale, float epsilon) = nullptr;
};

[[nodiscard]] SliceLoops slice_loops();
[[nodiscard]] SliceLoops slice_loops_baseline();
[[nodiscard]] SliceLoops slice_loops_avx2();
[[nodiscard]] SliceLoops slice_loops_avx512();

}  // namespace collage::host
