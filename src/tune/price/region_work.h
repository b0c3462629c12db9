// What takes the time of regions: their heavy operators (convolutions, products of matrices), each by itself; of a
// region without any, all of it.
// In: graph, regions, peak rates. Out: parts with the least time that each takes when it is computed as written.
// Cost: O(nodes of the region); a heavy operator is looked at once for all regions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/roofline.h"
#include "region/region.h"

namespace collage {

struct Work {
  std::string operation;   ///< equal for equal computations
  std::string kind;        ///< operators, filters and strides, of any size
  double roofline_ns = 0;  ///< without the short cuts that some kernels take, and at least some overhead
};

struct RegionWork {
  std::vector<std::shared_ptr<const Work>> parts;  ///< at least one
  bool is_heavy = true;                            ///< the parts are
  std::string rest;                                ///< operators beside the parts
};

class WorkOfRegions {
 public:
  /// The graph outlives it.
  WorkOfRegions(const Graph& graph, const PeakRates& peak, int threads);

  [[nodiscard]] RegionWork of(const Region& region);

 private:
  [[nodiscard]] std::shared_ptr<const Work> work(const Region& region, std::string kind) const;

  const Graph& graph_;
  Uses uses_;
  PeakRates peak_;
  int threads_;
  std::vector<std::shared_ptr<const Work>> heavy_;  ///< by node; empty for those not looked at
};

}  // namespace collage
