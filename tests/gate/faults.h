// Miscompiles: what a compiler gets wrong in a graph, and what a kernel gets wrong at a run.
// Each has a network to be planted in. `in_graph` edits the graph that is compiled in place of the right one; false
// when the graph has no place for the fault. `at_run` spoils a right kernel's outputs after a run.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace collage::test {

/// One run of a kernel as a fault sees it. Floats only; other ports have no elements.
struct FaultyRun {
  std::span<const float> x;  ///< the first input
  std::span<float> out;      ///< the first output, right
  int run = 1;               ///< counted from the load
  std::vector<float>& kept;  ///< what the fault keeps from one run to the next; empty at first
  float largest_recorded;    ///< magnitude of the first input that this kernel saw
  std::size_t width;         ///< of the output's last dimension
};

struct Fault {
  std::string name;
  std::string network;
  std::function<bool(Graph&)> in_graph;
  std::function<void(FaultyRun&)> at_run;
  bool is_late = false;  ///< shows only after the timing has begun
};

/// All of them, in a fixed order; at least 50.
[[nodiscard]] const std::vector<Fault>& faults();

}  // namespace collage::test
