// The objective of a tune: time alone, time under a cap on memory, or a weighted sum of time and memory.
// In:  a graph, covers, plans. Out: the bytes they need.
// The bytes of a plan are its arena (scratch of kernels included) plus the largest amount that an engine's region holds
// internally while its step runs: the peak of the values between its operators, each freed after its last reader.
// Inputs, outputs and weights are not counted. The figure for engines is an estimate, because what else they allocate
// is unknown.
// Cost: linear in the nodes of a region.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "backend/registry.h"
#include "plan/realise.h"
#include "region/cover.h"
#include "region/variant.h"

namespace collage {

struct Objective {
  std::int64_t memory_cap = 0;  ///< bytes; 0 = none
  double ns_per_byte = 0;       ///< what a byte of memory costs beside time

  [[nodiscard]] bool is_time_alone() const { return memory_cap == 0 && ns_per_byte == 0; }
};

/// "12 KiB (12345 bytes)", rounded up; small ones in bytes alone.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// The most bytes of values inside a region, neither read from outside nor given, that are alive at one node.
/// Values of open shape count nothing.
[[nodiscard]] std::int64_t inner_bytes(const Graph& graph, const Region& region);

using IsEngine = std::function<bool(const std::string& backend)>;
/// Which backends also run whole models. The registry outlives it.
[[nodiscard]] IsEngine engines_of(Registry& registry);

/// Bytes of a plan of this cover.
[[nodiscard]] std::int64_t plan_bytes(const Graph& graph, const Cover& cover, const Plan& plan,
                                      const IsEngine& is_engine);

/// What steps need beside the values at their border.
class StepMemory {
 public:
  explicit StepMemory(IsEngine is_engine) : is_engine_(std::move(is_engine)) {}

  /// Scratch as far as learn() saw it, for an engine its inner_bytes().
  [[nodiscard]] std::int64_t of(const Graph& graph, const Region& region, const std::string& backend,
                                const Variant& variant) const;
  /// One artifact for each step.
  void learn(const Cover& cover, const std::vector<Artifact>& artifacts);

 private:
  IsEngine is_engine_;
  std::map<std::pair<NodeSet, std::string>, std::int64_t> scratch_;  ///< by nodes and "backend/variant"
};

}  // namespace collage
