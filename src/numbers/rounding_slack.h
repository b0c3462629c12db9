// How much the outputs of a model with quantisers depend on how its engine rounds. Two correct engines round a number
// near a tie differently; the next layers carry that step to the outputs. So the outputs of such a model have no exact
// value, and a bound for sums of floats is too narrow for them.
// In:  a graph. Out: its nudged twin, the same graph whose quantisers see numbers that differ by at most a thousandth;
//      from the outputs of both, the slack of each output.
// Cost: linear in the nodes; then a run of the twin.
#pragma once

#include <optional>
#include <vector>

#include "backend/backend.h"
#include "region/region.h"

namespace collage {

/// Nothing for a graph without quantisers of floats. Bodies of control flow stay as they are.
[[nodiscard]] std::optional<Graph> nudged_twin(const Graph& graph);

/// By how much any element of an output may differ besides what the accuracy class allows: twice the largest difference
/// between the outputs of the graph and of its twin. 0 for types that are not rounded, and for integers unless
/// `is_rounded` (is_after_quantiser()).
[[nodiscard]] double rounding_slack(const Tensor& expected, const Tensor& nudged, bool is_rounded);

/// The slack of each output of a region, by a run of its twin in the reference on these inputs, which gave these
/// outputs. Empty for a region without quantisers, and where the reference has no answer.
[[nodiscard]] std::vector<double> region_slacks(const Graph& graph, const Uses& uses, const Region& region,
                                                const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                                                Backend& reference);

}  // namespace collage
