// Finds the parts of a region that take its time: each heavy operator (convolution, matrix product), and what the
// others move beside; the whole region when it has no heavy operator. In:  a graph, regions, peak rates. Out: parts,
// each with the least time that it takes when computed as written. Cost: O(nodes of the region); a heavy operator is
// examined once for all regions.
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
  bool is_heavy = true;    ///< a convolution or a matrix product
};

struct RegionWork {
  std::vector<std::shared_ptr<const Work>> parts;  ///< at least one, heavy ones first
  std::string rest;                                ///< operators beside the heavy ones

  [[nodiscard]] std::size_t heavy_parts() const;
};

class WorkOfRegions {
 public:
  /// The graph outlives it.
  WorkOfRegions(const Graph& graph, const PeakRates& peak, int threads);

  [[nodiscard]] RegionWork of(const Region& region);

 private:
  [[nodiscard]] std::shared_ptr<const Work> work(const Region& region, std::string kind, bool is_heavy) const;
  [[nodiscard]] std::shared_ptr<const Work> moved_beside(const Region& region, const RegionWork& heavy) const;

  const Graph& graph_;
  Uses uses_;
  PeakRates peak_;
  int threads_;
  std::vector<std::shared_ptr<const Work>> heavy_;  ///< by node; empty for those not looked at
};

}  // namespace collage
