// Static memory plan: where in one arena each buffer lies, so that buffers alive at the same time never overlap.
// In: for every buffer the first and last step that touches it and its size. Out: 64-byte aligned offsets.
// How: largest buffer first, each into the smallest gap between the already placed buffers that live at the same
//      time (greedy by size, best fit). Not optimal, but within a few percent of the peak of live bytes on real models.
// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/pages.h"

namespace collage {

/// A buffer that is alive from step `first` to step `last`, both included.
struct Interval {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t bytes = 0;
};

struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< one per interval, 64-byte aligned
  std::size_t bytes = 0;             ///< size of the arena
};

[[nodiscard]] MemoryPlan plan_memory(std::span<const Interval> intervals);

}  // namespace collage
