// The slices along one axis or several neighbouring axes: a tensor viewed as [outer, length, inner], in which `inner`
// elements are contiguous. Used by softmax, reductions and normalisations in both common formats.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "ir/type.h"
#include "layout.h"
#include "parallel.h"

namespace collage::host {

struct Slices {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// The product of extents that an artifact states: -1, the size of no tensor, where one is negative or it overflows.
[[nodiscard]] std::int64_t stated_size(std::initializer_list<std::int64_t> extents);

/// How `axes` (0 <= axis < rank) lie in a dense tensor of this format; nothing when other axes lie between them.
[[nodiscard]] std::optional<Slices> slices_of(const Extents& extents, const Format& format,
                                              const std::vector<std::int64_t>& axes);

/// Runs `loop(part, first outer index, thread)` for ranges of the outer axis on as many threads as the work is worth.
template <class Loop>
void in_outer_ranges(ThreadPool* pool, int threads, const Slices& slices, const Loop& loop) {
  const std::int64_t bytes = slices.outer * slices.length * slices.inner * static_cast<std::int64_t>(sizeof(float));
  in_ranges(pool, threads_for(threads, bytes, slices.outer), slices.outer,
            [&](std::int64_t first, std::int64_t last, int thread) {
              loop(Slices{last - first, slices.length, slices.inner}, first, thread);
            });
}

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
  /// out = below + (above - below) * weight, for n elements.
  void (*blend)(const float* below, const float* above, float weight, std::int64_t n, float* out) = nullptr;
  /// Likewise for each of n pixels of `inner` elements: pixel i blends pixels below[i] and above[i] of `in`.
  void (*stretch)(const float* in, const std::int32_t* below, const std::int32_t* above, const float* weight,
                  std::int64_t n, std::int64_t inner, float* out) = nullptr;
};

[[nodiscard]] SliceLoops slice_loops();
[[nodiscard]] SliceLoops slice_loops_baseline();
[[nodiscard]] SliceLoops slice_loops_avx2();
[[nodiscard]] SliceLoops slice_loops_avx512();

}  // namespace collage::host
