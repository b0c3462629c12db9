// One pass of the state search over the lattice: the cheapest path to every state (covered nodes, places of live
// values) that can still lead to a better cover than the best one known. state_search.cpp begins with an example.
// In:  a problem, its lattice, the greatest width of the beam, the cost of the best cover known. Out: the best path; a
//       lower bound on the covers through the states that were dropped.
// Cost: states x candidates at a node x live values.
// Source: see search.h.
#pragma once

#include <optional>
#include <vector>

#include "search/lattice.h"

namespace collage {

/// A place that a value is brought to before a step needs it elsewhere.
struct Stop {
  std::uint32_t value = 0;
  std::uint8_t place = 0;
};

struct ChosenOption {
  std::uint32_t group = 0;
  std::uint32_t option = 0;
  std::vector<Stop> stops = {};  ///< in order; of the step's outputs after it
};

struct PassResult {
  std::optional<std::vector<ChosenOption>> path;  ///< nothing when no cover better than the known one was met
  PathCost cost;
  std::int64_t peak_bytes = 0;
  std::int64_t dropped_ns = kImpossible;  ///< objective of the best that a dropped state could have led to
  std::size_t states = 0;
};

/// `most_ns`: covers whose objective is above are not looked for.
[[nodiscard]] PassResult search_states(const Problem& problem, const Lattice& lattice, std::size_t width,
                                       std::int64_t most_ns);

}  // namespace collage
