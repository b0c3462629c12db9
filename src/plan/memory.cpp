#include "plan/memory.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace collage {
namespace {

bool alive_together(const Interval& a, const Interval& b) { return a.first <= b.last && b.first <= a.last; }

/// The offset of the smallest gap of at least `bytes` between `busy` ranges sorted by start; the end when none fits.
std::size_t best_gap(const std::vector<std::pair<std::size_t, std::size_t>>& busy, std::size_t bytes) {
  std::size_t best_offset = 0;
  std::size_t best_waste = std::numeric_limits<std::size_t>::max();
  std::size_t end = 0;
  for (const auto& [start, stop] : busy) {
    if (start >= end + bytes && start - end - bytes < best_waste) {
      best_offset = end;
      best_waste = start - end - bytes;
    }
    end = std::max(end, stop);
  }
  return best_waste == std::numeric_limits<std::size_t>::max() ? end : best_offset;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Interval> intervals) {
  MemoryPlan plan{.offsets = std::vector<std::size_t>(intervals.size(), 0), .bytes = 0};
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return intervals[a].bytes > intervals[b].bytes; });

  std::vector<std::size_t> placed;
  std::vector<std::pair<std::size_t, std::size_t>> busy;
  for (const std::size_t i : order) {
    const std::size_t bytes = aligned_up(intervals[i].bytes);
    if (bytes == 0) continue;
    busy.clear();
    for (const std::size_t j : placed)
      if (alive_together(intervals[i], intervals[j]))
        busy.emplace_back(plan.offsets[j], plan.offsets[j] + aligned_up(intervals[j].bytes));
    std::ranges::sort(busy);
    plan.offsets[i] = best_gap(busy, bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + bytes);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace collage
