// Checks whether a region may become one step under given limits.
// In:  a region, the labelled matches inside it, limits.
// Out: nothing, or the first violation in the fixed order of RegionFaultReason.
// Cost: one pass over the region's nodes and their rows of the reachability matrix.
// Not here: whether a backend supports it (Backend::support()), the types at its border (has_passed_border()).
// Source: SubGraphConfig of TVM's Collage. Differs: outputs are counted as values, so a node with three used outputs
//       counts three.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "region/region.h"

namespace collage {

/// Limits on a region; 0 = no limit.
struct RegionLimits {
  std::size_t max_outputs = 0;  ///< values that leave it
  std::size_t max_depth = 0;    ///< nodes on its longest path
  std::size_t max_nodes = 0;
  bool allow_bodies = true;  ///< operators with bodies (If, Loop, Scan) may be inside
  bool allow_taps = false;   ///< an output may be read inside too
  bool operator==(const RegionLimits&) const = default;
};

/// In the order in which they are looked for.
enum class RegionFaultReason : std::uint8_t {
  kNodes,     ///< more nodes than allowed
  kOutputs,   ///< more values leave than allowed
  kDepth,     ///< a longer path than allowed
  kBody,      ///< an operator with a body where none is allowed
  kTaps,      ///< an output is read inside as well
  kMatches,   ///< labelled matches overlap or leave the region
  kConvexity  ///< a path leaves the region and comes back: the step would wait for itself
};

struct RegionFault {
  RegionFaultReason reason = RegionFaultReason::kNodes;
  std::string detail;
  bool operator==(const RegionFault&) const = default;
};

[[nodiscard]] std::expected<void, RegionFault> check_region(const Graph& graph, const Uses& uses,
                                                            const Reachability& reach, const Region& region,
                                                            const RegionLimits& limits,
                                                            std::span<const Match> matches = {});

/// "outputs<=1, depth<=8, no taps": the limits that differ from none; "anything" when all are none.
[[nodiscard]] std::string to_text(const RegionLimits& limits);

}  // namespace collage
