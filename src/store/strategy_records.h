// Statistics of a backend's implementations in a cost store: how often each was measured, and how fast it was compared
// with the others.
// In:  a store, a backend, its implementations. Out: counts and ratios by implementation.
// How: the name of a variant starts with its implementation. Times are compared within one region, measured under the
//       same conditions.
// Cost: linear in the store's records of this machine.
#pragma once

#include <map>
#include <span>
#include <string>

#include "backend/backend.h"
#include "backend/strategy.h"
#include "store/store.h"

namespace collage {

struct StrategyRecord {
  std::size_t regions = 0;   ///< different ones in which some variant of it was timed
  std::size_t refused = 0;   ///< variants that did not work
  std::size_t compared = 0;  ///< regions in which something else was timed, too
  std::size_t fastest = 0;   ///< of these: those in which it is the fastest
  double ratio = 0;          ///< geometric mean of the best other's time over its own; 0 = nothing to compare
  std::string best_variant;  ///< of the region in which it gains most
  double best_ratio = 0;     ///< there
  bool operator==(const StrategyRecord&) const = default;
};

/// By implementation; those of `lines` without a record are left out. Records of this build of the backend on
/// `machine`.
[[nodiscard]] std::map<std::string, StrategyRecord> strategy_records(Store& store, const BackendInfo& backend,
                                                                     std::span<const StrategyLine> lines,
                                                                     const std::string& machine);

}  // namespace collage
