// Simplifies an imported graph without changing what it computes. Each pass is one file and can be switched off.
// In:  a verified graph at the canonical operator versions. Out: the simplified graph, and what each pass did.
// Inputs and outputs keep their names, types and order. A value whose name is kept has the same numbers as before.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "ir/graph.h"

namespace collage {

/// Computes the outputs of a graph that has no inputs, in output order. Passes hold no kernels of their own, so that
/// folding computes exactly what the reference engine would.
using Evaluator = std::function<Result<std::vector<Tensor>>(const Graph& graph)>;

struct PassOptions {
  Accuracy accuracy = Accuracy::kStandard;
  std::set<std::string> off;  ///< names of passes to leave out; unknown names are an error
  int max_rounds = 8;         ///< bound on the rounds to a fixed point
};

/// What one pass did, summed over its runs.
struct PassReport {
  std::string name;
  int runs = 0;
  int changed = 0;  ///< runs that changed the graph
  double time_us = 0;
  std::size_t nodes_before = 0;  ///< at its first run
  std::size_t nodes_after = 0;   ///< after its last run
  std::string note;              ///< what it could not do, for example why folding stopped; usually empty
};

struct SimplifiedGraph {
  Graph graph;
  std::vector<PassReport> passes;  ///< in the order of pass_names(), without those switched off
};

/// Names of all passes in the order in which they run. Every one may be switched off: the graph as imported is right.
[[nodiscard]] std::vector<std::string_view> pass_names();

/// The passes that a user switches off: "-fold_pad,-merge_bias" -> {fold_pad, merge_bias}. Errors passes/bad-switch for
/// a part without "-", passes/unknown-pass for a name that is no pass, with the nearest one.
[[nodiscard]] Result<std::set<std::string>> passes_switched_off(std::string_view switches);

/// Runs the passes until nothing changes and verifies the graph after each change. If the evaluator fails on a node,
/// that node is not folded; an empty evaluator switches folding off.
/// Errors: passes/unknown-pass for a name in `off`; passes/broken-graph (a bug) when a pass breaks an invariant.
[[nodiscard]] Result<SimplifiedGraph> simplify(Graph graph, const PassOptions& options, const Evaluator& evaluator);

}  // namespace collage
