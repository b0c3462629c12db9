// Views a tree of multiplications as one constant factor times some values, whatever its nesting. Internal to this
// folder.
#pragma once

#include <vector>

#include "passes/editor.h"

namespace collage {

struct Factors {
  double number = 1;            ///< product of all constant factors
  std::vector<ValueId> values;  ///< computed factors, with repeats
};

/// Decomposes the computation of `value`: Mul, Div by a constant, Pow with a small integer exponent. Does not look into
/// `stop`, nor into inner values that something outside the product reads too (unless `shared` allows it).
[[nodiscard]] Factors factors_of(const Editor& editor, ValueId value, ValueId stop, bool shared = false);

/// The operand of a two-input node that is not the constant `number`; invalid when neither is.
[[nodiscard]] ValueId other_than(const Graph& graph, const Node& node, double number);

/// The sorted computed factors are exactly these values (order does not matter).
[[nodiscard]] bool are_exactly(std::vector<ValueId> values, std::vector<ValueId> expected);

/// Whether two numbers are equal up to the rounding of exporters.
[[nodiscard]] bool is_about(double value, double expected);

}  // namespace collage
