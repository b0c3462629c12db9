// A lower bound on the time of a region on this machine, from the arithmetic it must do and the bytes it must move. It
// holds whatever library runs the region.
// In:  a graph, a region, the machine's peak rates. Out: nanoseconds. Cost: O(nodes of the region).
// Example: a MatMul of [512, 512] by [512, 512] floats takes 2 x 512^3 = 268 million operations and moves 3 MiB. At
// peak rates of 100 operations and 200 bytes a nanosecond that is 2684 us for the arithmetic and 16 us for the bytes,
// so the bound is 2684 us.
// Source: Williams, Waterman, Patterson, Roofline, CACM 2009. The least number of multiplications of small
//       convolutions: Winograd's F(4x4, 3x3), Lavin and Gray, CVPR 2016, along any two axes, dilated or not.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "region/region.h"
#include "store/store.h"

namespace collage {

/// What one thread reaches at best.
struct PeakRates {
  double flops_per_ns = 0;  ///< 32-bit multiplications and additions
  double bytes_per_ns = 0;  ///< from and to the first cache
  double memory_bytes_per_ns = 0;
};

/// Times three loops, about 0.1 s, at the widest vectors of the processor. One thread.
[[nodiscard]] PeakRates measure_peak_rates();

/// The same, measured once for a machine and kept in the store.
[[nodiscard]] PeakRates peak_rates(Store& store);

/// Multiplications and additions that a node needs at least; 0 for operators not worth counting.
[[nodiscard]] double least_flops(const Graph& graph, const Node& node, Accuracy accuracy);

/// The same without the short cut of Winograd: as the operator is defined.
[[nodiscard]] double direct_flops(const Graph& graph, const Node& node);

/// Bytes that must cross the border of the region: outputs, and inputs unless only a part of them may be read.
[[nodiscard]] double least_bytes(const Graph& graph, const Region& region);

[[nodiscard]] std::int64_t roofline_ns(const Graph& graph, const Region& region, Accuracy accuracy,
                                       const PeakRates& peak, int threads);

}  // namespace collage
