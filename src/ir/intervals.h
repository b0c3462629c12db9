// Bounds on the integers that a value can hold, for all possible inputs of the graph (interval analysis).
// In:  a verified graph. Out: for a value asked for, an interval; that of its element type when nothing more is known.
// Cost: each value is followed to its producers once, to a bounded depth.
#pragma once

#include <map>

#include "ir/operand_conditions.h"

namespace collage {

class Intervals {
 public:
  /// The graph outlives the result.
  explicit Intervals(const Graph& graph) : graph_(graph) {}

  /// What the caller knows about an input or a capture.
  void assume(ValueId id, const OperandRange& range) { known_.insert_or_assign(id, range); }

  /// Contains every element of the value in every run. Unbounded for values that are neither integers nor bools.
  [[nodiscard]] OperandRange of(ValueId id);

 private:
  struct Followed;

  [[nodiscard]] OperandRange followed(ValueId id);
  [[nodiscard]] const Node* producer_of(ValueId id);

  const Graph& graph_;
  std::vector<const Node*> producers_;  ///< by value; made when first asked
  std::map<ValueId, OperandRange> known_;
  int depth_ = 0;
};

/// The range of a type; unbounded for types other than integers and bools.
[[nodiscard]] OperandRange range_of(ElementType type);

}  // namespace collage
