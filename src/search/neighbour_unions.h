// Regions that join neighbouring steps of one backend, to save the border between them.
// In: a cover. Out: regions to ask the backend about, each once, in a canonical order: every legal pair of steps of
//     which one reads what the other makes, and the largest unions grown from such pairs. The caller prices them as any
//     other candidate and searches again: a cover with fewer steps wins a tie, and two unions that exclude each other
//     are never both taken, because the search knows only legal schedules.
// How: a union grows by the earliest step that touches it and leaves it legal, until there is none. One step at a time
//      is enough: of what a larger legal union has more, the first step behind or the last before can join alone (where
//      no node is repeated). A pair inside a union grown before starts no other.
// Cost: two bits for every pair of nodes and every pair of steps; time in proportion to pairs x words of a set.
// Not here: what the backend says to a union and what it takes (region/candidates.h, measure/).
// Source: MaxCoalesce of TVM's RFC 62 (Collage). Differs: unions are proposed as candidates, not merged in place.
#pragma once

#include <string>
#include <vector>

#include "region/cover.h"

namespace collage {

struct NeighbourUnion {
  std::string backend;
  std::string location;
  Region region;  ///< repeats a node only when every step of the union that computes it repeats it
  bool operator==(const NeighbourUnion&) const = default;
};

/// Of kernel steps; steps touch when a value goes from one to the other, converted on the way or not. Legal: its
/// covered nodes are convex, no other step of the cover would have to run both before and after it, and it gives every
/// value that another step reads.
/// The cover's steps are in execution order.
[[nodiscard]] std::vector<NeighbourUnion> neighbour_unions(const Graph& graph, const Uses& uses, const Cover& cover);

}  // namespace collage
