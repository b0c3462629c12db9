// Takes the large weights out of a serialised model, so that they are not copied with it.
// In:  the bytes of a ModelProto, and the graph that was imported from them. Out: a model of the same meaning in which
//      initialisers are external data, and which constants of the graph these are.
// How: walks the wire format; what is not replaced is copied as it stands. An initialiser is replaced only if a
// constant
//      of its name has its type, extents and bytes.
// Cost: one comparison of the weights; the result has the size of what stays.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace collage {

struct OutsideWeights {
  std::string model;               ///< a serialised ModelProto
  std::vector<ValueId> constants;  ///< number i is the external file `file(i)` of the model, from offset 0
};

struct OutsideOptions {
  std::size_t inline_limit = 0;                  ///< in bytes; smaller initialisers stay in the model
  std::function<std::string(std::size_t)> file;  ///< the name of external file number i
};

/// @param candidates  constants of `graph` that may be taken out. Bytes that are no model are returned as they are.
[[nodiscard]] OutsideWeights take_weights_outside(std::string_view model, const Graph& graph,
                                                  std::span<const ValueId> candidates, const OutsideOptions& options);

}  // namespace collage
