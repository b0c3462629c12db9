// Proposes regions that join neighbouring steps of one backend, which saves the transfer of values between them.
// In:  a cover.
// Out: regions to ask the backend about, each once, in a canonical order: every legal pair of steps of which one reads
//       a result of the other, and the largest unions grown from such pairs. The caller prices them like all candidates
//       and searches again. A cover with fewer steps wins a tie. Two unions that exclude each other are never both
//       chosen, because the search considers legal schedules only.
// How: a union grows by the earliest step that is adjacent to it and keeps it legal, until there is none. Adding single
//       steps suffices: if a larger legal union exists, the first of its further steps behind the union, or the last
//       one before it, can be added alone (as long as no node is repeated). A pair inside a union grown earlier does
//       not start another one.
// Cost: two bits for every pair of nodes and every pair of steps; time linear in pairs x words of a set.
// Not here: whether the backend supports a union, and its time (region/candidates.h, measure/).
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

/// The unions of kernel steps. Two steps are adjacent when a value goes from one to the other, converted on the way or
/// not. A union is legal if its covered nodes are convex, no other step of the cover would have to run both before and
/// after it, and it provides every value that another step reads. The cover's steps are in execution order.
[[nodiscard]] std::vector<NeighbourUnion> neighbour_unions(const Graph& graph, const Uses& uses, const Cover& cover);

}  // namespace collage
