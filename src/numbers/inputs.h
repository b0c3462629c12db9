// Generates realistic inputs for a graph: floats from N(0, 1); integers that are valid indices where they index and
// positive where they divide, else 0 or 1.
// Deterministic: the same seed, name and type give the same bytes in any process and on any machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace collage {

struct InputOptions {
  std::uint64_t seed = 1;
  std::map<std::string, std::pair<double, double>> ranges;  ///< input name -> [low, high], both ends included
};

/// The bound below which elements of `value` must stay. It is found by following the value, through operators that only
/// move or cast elements and into bodies, to operators with conditions on their integers (ir/operand_conditions.h).
/// Nothing when there are none.
[[nodiscard]] std::optional<std::int64_t> index_limit(const Graph& graph, ValueId value);
/// Whether elements of `value` must be positive, because they are divisors or counts of at least one; found likewise.
[[nodiscard]] bool must_be_positive(const Graph& graph, ValueId value);

/// One tensor of a static type with elements of a fixed size; integers are below `limit`.
/// Error input/unsupported-type for strings and for 8- or 4-bit floats; input/bad-range when the range is empty or
/// holds no value of the type.
[[nodiscard]] Result<Tensor> make_input(const std::string& name, const ValueType& type, std::uint64_t seed,
                                        std::optional<std::pair<double, double>> range = std::nullopt,
                                        std::optional<std::int64_t> limit = std::nullopt);

/// One value per graph input, in order; what is no tensor of numbers comes from held_inputs.h. Errors as make_input;
/// input/unbound for an input that is not static; input/unknown-name for a range of an input that does not exist.
[[nodiscard]] Result<std::vector<Tensor>> make_inputs(const Graph& graph, const InputOptions& options = {});

}  // namespace collage
