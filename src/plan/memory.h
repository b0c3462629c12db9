// Static memory planning: assigns each buffer an offset in one arena, so that buffers that are live at the same time
// never overlap.
// In:  for every buffer its size and the first and last step that uses it. Out: 64-byte aligned offsets.
// How: largest buffer first; each goes into the smallest gap between the placed buffers that are live at the same time
//       (greedy by size, best fit). Not optimal, but within a few percent of the peak of live bytes on real models.
// Example: four buffers, each live in two steps: a 100 bytes in steps 0-1, b 60 in 1-2, c 40 in 2-3, d 60 in 3-4
// (alignment left out). a goes to 0; b meets a in step 1 and goes to 100; d meets neither and goes to 0; c meets b (100
// to 160) and d (0 to 60), and takes the gap at 60. The arena has 160 bytes, which is the peak of live bytes in step 1.
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
