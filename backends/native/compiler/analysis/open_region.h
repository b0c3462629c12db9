// A region with open dimensions: the shapes of its values as terms over sizes, and the same region at one point of the
// domain.
// In:  a graph with named dimensions, a region, the domain.
// Out: the shapes of all values of the region; a graph of fixed shapes, on which strategies decide.
// How: extents of inputs are symbols, which each operator propagates; a window makes a new size from one. Strategies
//       see the region at a point of the domain, where they read, decide and schedule as for fixed shapes. The code
//       that the lowering then writes contains no extent of an open axis (lowering.h), so one strategy serves both
//       cases.
// Cost: linear in the region.
// Source: symbolic shapes of TVM's Relax and PyTorch's SymInt, for the few operators that are anchors or epilogues.
#pragma once

#include <expected>
#include <map>

#include "compiler/analysis/space.h"
#include "ir/graph.h"
#include "ir/shape_domain.h"
#include "kernel_set.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::native {

struct OpenRegion {
  std::vector<Symbol> symbols;
  std::vector<Size> sizes;
  std::map<ValueId, Terms> shapes;  ///< of values that the region reads, makes or gives
};

/// Some value at its border has an open dimension.
[[nodiscard]] bool is_open(const Graph& graph, const Region& region);

/// Every named dimension of its inputs, with any extent.
[[nodiscard]] ShapeDomain any_extents(const Graph& graph, const Region& region);

/// Refusals (shape) for dimensions without a range, and for operators that do not pass open dimensions on.
[[nodiscard]] std::expected<OpenRegion, Refusal> open_region_of(const Graph& graph, const Region& region,
                                                                const ShapeDomain& domain);

/// The graph with the region's values at these extents of the symbols.
[[nodiscard]] Graph graph_at(const Graph& graph, const OpenRegion& open, const Extents& symbols);

/// The point at which code is written: no extent is 1, at which it could not be told from a broadcast one, and none is
/// smaller than what schedules of the given point need.
[[nodiscard]] Extents writing_point(const OpenRegion& open, const Extents& at_least = {});

/// As view_of() sees the value there, in terms. Precondition: view_of() has a view.
[[nodiscard]] OpenView open_view_of(const Terms& shape, const Format& format, const Space& space);

}  // namespace collage::native
