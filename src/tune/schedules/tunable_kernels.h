// Finds the kernels of a pool whose settings can be tuned; those of equal structure count as one.
// In:  a pool with costs, backends. Out: groups of candidates by structure, backend, implementation and formats.
// Cost: one structure key for each region of backends with tuning spaces.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "backend/strategy.h"
#include "region/candidates.h"
#include "region/cost.h"
#include "region/variant.h"

namespace collage {

/// Candidates that differ in their settings and their place in the graph alone.
struct KernelGroup {
  std::string structure;  ///< structure_key of the regions
  std::string backend;
  Variant variant;                      ///< of the first candidate
  std::vector<std::uint32_t> regions;   ///< of the pool, each once, ascending
  std::vector<std::size_t> candidates;  ///< of the pool, ascending
};

/// In the order of their first candidates; only variants named "WAY/SETTINGS" of backends that tell a tuning space.
[[nodiscard]] std::vector<KernelGroup> kernel_groups(const Graph& graph, const CandidatePool& pool, Registry& registry,
                                                     const CompileOptions& options);

/// As the backend tells it; nothing when it has none or throws.
[[nodiscard]] std::optional<TuningSpace> space_of(Registry& registry, const Graph& graph, const CandidatePool& pool,
                                                  const KernelGroup& group, const CompileOptions& options);

}  // namespace collage
