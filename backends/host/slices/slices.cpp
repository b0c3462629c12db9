#include "slices/slices.h"

#include <algorithm>

namespace collage::host {

std::int64_t stated_size(std::initializer_list<std::int64_t> extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product)) return -1;
  return product;
}

std::optional<Slices> slices_of(const Extents& extents, const Format& format, const std::vector<std::int64_t>& axes) {
  const Strides strides = strides_of(extents, format);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1) order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  Slices slices;
  // 0: before the chosen axes, 1: within them, 2: after them.
  int part = 0;
  for (const std::size_t axis : order) {
    const bool chosen = std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
    if (chosen && part == 2) return std::nullopt;
    if (chosen) part = 1;
    if (!chosen && part == 1) part = 2;
    (part == 0 ? slices.outer : part == 1 ? slices.length : slices.inner) *= extents[axis];
  }
  // Without any chosen axis of more than one element, every element is a slice of its own.
  if (part == 0) slices = {.outer = slices.outer, .length = 1, .inner = 1};
  return slices;
}

SliceLoops slice_loops() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return slice_loops_avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return slice_loops_avx2();
  return slice_loops_baseline();
}

}  // namespace collage::host
