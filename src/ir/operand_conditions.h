// Conditions that an operator places on the integers in its operands: indices within bounds, divisors that are not
// zero. ONNX leaves the result undefined where they are violated; libraries then read other memory, clamp or crash.
// In:  a graph. Out: the conditions of a node; those of a graph that cannot be decided before it runs.
// Cost: linear in the graph; values are followed only where a condition asks about them.
// Source: the operators' specifications, and where they are silent what ONNX Runtime 1.31.1 rejects (docs/BORDERS.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace collage {

enum class OperandRule : std::uint8_t {
  kRange,      ///< each element lies in its range
  kNonZero,    ///< a divisor has no zero
  kNoOverflow  ///< no divisor is -1 where a dividend is the least number
};
/// range, non-zero, no-overflow.
[[nodiscard]] std::string_view name_of(OperandRule rule);

/// Both ends are included.
struct OperandRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool contains(std::int64_t number) const { return low <= number && number <= high; }
  bool operator==(const OperandRange&) const = default;
};
/// "-3 to 2".
[[nodiscard]] std::string to_string(const OperandRange& range);

struct OperandCondition {
  OperandRule rule = OperandRule::kRange;
  ValueId value;
  ValueId dividend;  ///< kNoOverflow: what `value` divides
  std::vector<OperandRange>
      ranges;  ///< kRange: of element i number i modulo their count; empty: an extent is not known
};

/// In the order of the operands. Nothing for omitted operands.
[[nodiscard]] std::vector<OperandCondition> operand_conditions(const Graph& graph, const Node& node);

/// A condition that some run may violate.
struct OpenCondition {
  std::size_t node = 0;         ///< of the graph: the one with the condition, or the one whose body contains it
  const Node* asker = nullptr;  ///< points into the graph, or into a body
  OperandCondition condition;   ///< of no value when the asker is in a body
};

/// The conditions that can be decided neither from constants nor from how the operands are computed, by node.
[[nodiscard]] std::vector<OpenCondition> open_conditions(const Graph& graph);

/// Error import/bad-operand if a constant violates a condition of a node that every run executes: one outside bodies.
[[nodiscard]] Result<void> check_constant_operands(const Graph& graph);

}  // namespace collage
