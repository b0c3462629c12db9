// Decides where a condition on operands (ir/operand_conditions.h) is checked: by the plan before a region runs, or by
// the backend that runs it.
// In:  a graph, the conditions that cannot be decided before it runs, a region.
// Out: checks of values that enter the region; the conditions that remain for the backend.
// Cost: one pass over the region's nodes for each such condition; most regions have none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/operand_conditions.h"
#include "region/region.h"

namespace collage {

/// What must hold of a value before a region runs.
struct OperandCheck {
  OperandCondition condition;   ///< `value` and `dividend` enter the region, or are constants
  const Node* asker = nullptr;  ///< points into the graph
};

struct OperandChecks {
  std::vector<OperandCheck> at_entry;
  std::vector<const OpenCondition*> inside;  ///< of operands that the region computes, and of unknown extents
};

/// An operand that enters the region through nodes that keep its elements is checked where it enters.
[[nodiscard]] OperandChecks operand_checks(const Graph& graph, std::span<const OpenCondition> open,
                                           const Region& region);

/// "Gather 'pick' takes indices that are computed inside (v7)": why a backend that checks nothing cannot run it.
[[nodiscard]] std::string why_inside(const Graph& graph, const OpenCondition& open);

}  // namespace collage
