// The sets of covered nodes that a search can reach, as a graph: which candidates lead from one set to the next, and a
// lower bound on the cost of covering the rest. lattice.cpp begins with an example.
// In:  a placement problem. Out: sets by number of covered nodes; edges; for each set the exact least cost of covering
//       the rest when conversions between places are free. That is the search's admissible lower bound.
// Cost: sets x candidates at a node. Sets are close to prefixes of the order, so their number is the graph's length
//       times a factor that depends on its width. A layer that grows too large keeps its cheapest sets, and the least
//       cost through those it dropped is reported.
// Source: pattern databases (Culberson and Schaeffer 1998): the exact solution of a relaxed problem as lower bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/problem.h"

namespace collage {

struct Lattice {
  struct Edge {
    std::uint32_t group = 0;
    std::uint32_t target = 0;
  };
  struct Set {
    std::uint32_t first_edge = 0;
    std::uint32_t last_edge = 0;  ///< one past
    std::size_t first_live = 0;   ///< in `live`
    std::uint32_t live_count = 0;
    std::int64_t least_ns = kImpossible;  ///< from the empty set, when places do not matter
    std::int64_t rest_ns = kImpossible;   ///< to the full set, likewise
    std::int64_t shares_ns = 0;           ///< what is left of the nodes' shares
  };

  std::vector<Set> sets;  ///< [0] is empty
  std::vector<Edge> edges;
  std::vector<std::uint32_t> live;                 ///< of all sets, one after the other
  std::vector<std::vector<std::uint32_t>> layers;  ///< sets by number of covered nodes
  std::int64_t dropped_ns = kImpossible;           ///< no cover through a set that was dropped costs less

  [[nodiscard]] std::span<const Edge> edges_of(std::uint32_t set) const {
    return std::span(edges).subspan(sets[set].first_edge, sets[set].last_edge - sets[set].first_edge);
  }
  /// Values made and still to be read, ascending.
  [[nodiscard]] std::span<const std::uint32_t> live_of(std::uint32_t set) const {
    return std::span(live).subspan(sets[set].first_live, sets[set].live_count);
  }
};

[[nodiscard]] Lattice make_lattice(const Problem& problem, std::size_t max_sets_per_layer);

}  // namespace collage
