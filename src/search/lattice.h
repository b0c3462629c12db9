// The covered sets that a search meets, as a graph: which groups lead from one to the next, and what covering the rest
// costs at least.
// In: problem. Out: sets by number of covered nodes, edges, for each set the exact cost of the rest when places do not
//      matter: the search's admissible bound.
// Cost: sets x candidates at a node. Sets stay near prefixes, so their number grows with the graph's length times what
//       its width allows; a layer that grows too large keeps its cheapest, and the least cost of what it lost is told.
// Source: pattern databases (Culberson and Schaeffer, 1998): the exact solution of a relaxed problem as bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/prefix_set.h"
#include "search/problem.h"

namespace collage {

struct Lattice {
  struct Edge {
    std::uint32_t group = 0;
    std::uint32_t target = 0;
  };
  struct Set {
    PrefixSet covered;
    std::uint32_t first_edge = 0;
    std::uint32_t last_edge = 0;          ///< one past
    std::int64_t least_ns = kImpossible;  ///< from the empty set, when places do not matter
    std::int64_t rest_ns = kImpossible;   ///< to the full set, likewise
    std::int64_t shares_ns = 0;           ///< what is left of the nodes' shares
    std::vector<std::uint32_t> live;      ///< values made and still to be read, ascending
  };

  std::vector<Set> sets;  ///< [0] is empty
  std::vector<Edge> edges;
  std::vector<std::vector<std::uint32_t>> layers;  ///< sets by number of covered nodes
  std::int64_t dropped_ns = kImpossible;           ///< no cover through a set that was dropped costs less

  [[nodiscard]] std::span<const Edge> edges_of(std::uint32_t set) const {
    return std::span(edges).subspan(sets[set].first_edge, sets[set].last_edge - sets[set].first_edge);
  }
};

[[nodiscard]] Lattice make_lattice(const Problem& problem, std::size_t max_sets_per_layer);

}  // namespace collage
