// Makes up strings, sequences, optionals and maps as inputs of a graph.
// In:  the graph, one of its inputs, a seed. Out: a value of the input's type.
// How: strings are drawn from those that the graph's operators know (vocabularies, categories, keys, constants that
// they
//      compare with), mixed with a few others; where they are cast to numbers, they are numbers. A sequence has 2 to 4
//      items of equal extents, an optional has a value, a map some of the keys that its reader knows. Extents that a
//      type leaves open are 2 to 4, equal for equal names.
// Deterministic, as inputs.h.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace collage {

/// Precondition: the input's type is held. Error input/unbound for a tensor of strings that is not static,
/// input/unsupported-type.
[[nodiscard]] Result<Tensor> make_held_input(const Graph& graph, ValueId input, std::uint64_t seed);

}  // namespace collage
