// Determines the shape at which a command uses a plan: from `--shape` and from the files of inputs.
// In:  a plan's cases, `--shape` bindings, input files. Out: a point of the domain; the graph's inputs at that point.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/plan_cases.h"

namespace collage {

/// The point given by the bindings, one extent each, and by the inputs' files. Error shape/outside when they contradict
/// a dimension that the plan has fixed. Errors: shape/*, input/*, those of reading.
[[nodiscard]] Result<ShapePoint> choose_point(const PlanCases& cases, const ShapeBindings& bindings,
                                              const std::map<std::string, std::string>& input_files);

/// The points for a command that uses one or all: the one given by the bindings, else those of all cases.
[[nodiscard]] Result<std::vector<ShapePoint>> choose_points(const PlanCases& cases, const ShapeBindings& bindings);

/// Points on the diagonal of the domain that are no cases, so that the generic plan serves them. At most two; none
/// without a generic plan.
[[nodiscard]] std::vector<ShapePoint> points_between(const PlanCases& cases);

/// The inputs of a graph with the point's extents.
void bind_inputs(const ShapeDomain& domain, const ShapePoint& point, Graph& graph);

}  // namespace collage
