// Which values are one run of bytes inside another value: parts inside the result of a Concat, results of a Split or
// Slice inside its input. Stored at that offset of the whole, they need no copy.
// In:  a Concat, Split or Slice with static shapes, and the format that all its tensors have.
// Out: the whole and the byte offset of each part in it.
// How: a part is a box in the whole. Take the outermost axis in memory along which the box is shorter than the whole:
//      the box is one run of bytes when its extent is 1 along every axis outside of that one.
//      Known are the common formats and those named as in "owner:nChw16c": channels in blocks of 16, the blocks outside
//      of the spatial axes, whatever their number; only whole blocks have a place there.
// Cost: O(parts x rank).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "region/format.h"

namespace collage {

struct ContainedPart {
  ValueId value;
  std::size_t offset = 0;  ///< bytes from the start of the whole, a multiple of kBufferAlignment
  bool operator==(const ContainedPart&) const = default;
};

struct Containment {
  ValueId whole;                     ///< a Concat's output, else the input
  std::vector<ContainedPart> parts;  ///< in the node's order; of a Concat without those that have no elements
  bool operator==(const Containment&) const = default;
};

/// Nothing for another operator, open shapes, computed bounds, steps other than 1, elements of less than a byte, parts
/// that are no single run of bytes, and offsets that kernels could not take as the start of a buffer.
[[nodiscard]] std::optional<Containment> containment_of(const Graph& graph, const Node& node, const Format& format);

/// Whether every part can be at its place without a copy as far as the node and its neighbours tell: the parts of a
/// Concat are different results of other nodes, no part is a graph output, nothing is constant. A part that also lies
/// in another whole may still need one.
[[nodiscard]] bool can_lie_in_place(const Graph& graph, const Node& node, const Containment& containment);

}  // namespace collage
