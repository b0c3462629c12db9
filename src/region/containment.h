// Finds values that occupy contiguous bytes of another value: the parts of a Concat inside its result, the results of a
// Split or Slice inside its input. Such a value can be stored at its offset in the whole and needs no copy.
// In:  a Concat, Split or Slice with static shapes, and the format that all its tensors have.
// Out: the whole, and the byte offset of each part in it.
// How: a part is a box in the whole. Take the outermost axis, in memory order, along which the box is shorter than the
//       whole. The box is contiguous when its extent is 1 along every axis outside that one. Supported are the common
//       formats and channel-blocked ones, named as in "owner:nChw16c" (blocks of 16 channels; any number of spatial
//       axes), where a part must consist of whole blocks.
// Example: in a plain value [1, 8, 4, 4], channels 2 to 4 form the box [1, 3, 4, 4]: contiguous, since the only axis
// outside the channels has extent 1. In [2, 8, 4, 4] the box [2, 3, 4, 4] is not.
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

/// Whether every part can lie at its offset without a copy, as far as the node and its neighbours determine: the parts
/// of a Concat are distinct results of other nodes, no part is a graph output, and nothing is constant. A part that
/// also belongs to another whole may still need a copy.
[[nodiscard]] bool can_lie_in_place(const Graph& graph, const Node& node, const Containment& containment);

}  // namespace collage
