// Reads from a recorded run what the bodies of a control-flow operator did.
// In:  a graph, the record of a run of it, an If, Loop or Scan in it. Out: the inputs of its bodies (of a loop: in the
//       first iteration), and how often each body ran.
// Cost: a copy of the operands.
// Source: the semantics of ONNX's If, Loop and Scan at opset 26.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "numbers/record.h"

namespace collage {

/// Writes the inputs of free_bodies()[body] in the first iteration to a record at `path`. Errors: record/no-such-value
/// when the run's record lacks an operand, tune/no-iteration when there was none.
[[nodiscard]] Result<void> write_body_inputs(const Graph& graph, const Node& node, std::size_t body,
                                             const Record& record, const std::string& path);

/// Runs of each body in one run of the operator: of an If's branches, whose condition the record tells; of a loop's
/// body, its trip count, or the height of its stacks. Where neither graph nor record knows: 1/2 for a branch, 1 for a
/// loop.
[[nodiscard]] std::vector<double> body_runs(const Graph& graph, const Node& node, const Record& record);

}  // namespace collage
