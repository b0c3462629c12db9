// One pass over the lattice with places: the cheapest way to every (covered set, places of live values) that can still
// lead to a better cover than the best one known.
// In: problem, lattice, width of the beam, cost of the best cover known. Out: the best path, the least cost that a
//      dropped state could have led to.
// Cost: states x candidates at a node x live values.
// Source: see search.h.
#pragma once

#include <optional>
#include <vector>

#include "search/lattice.h"

namespace collage {

struct ChosenOption {
  std::uint32_t group = 0;
  std::uint32_t option = 0;
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

/// One conversion that a path needs, from a place where the value is.
struct Hop {
  ValueId value;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
};

/// The places of live values along one path. Both the search and whoever writes its path down as steps use it, so that
/// they agree on conversions.
class PathState {
 public:
  explicit PathState(const Problem& problem);
  /// Conversions before the kernel and, for model outputs, after it, in order; false when there is no way.
  [[nodiscard]] bool take(const Group& group, const Option& option, std::vector<Hop>& before, std::vector<Hop>& after);

 private:
  [[nodiscard]] bool require(std::uint32_t value, std::uint8_t place, std::vector<Hop>& hops);

  const Problem& problem_;
  std::vector<PlaceMask> held_;  ///< by value
};

}  // namespace collage
