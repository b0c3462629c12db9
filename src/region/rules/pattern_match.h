// Finds all matches of a pattern in a graph.
// In:  a graph, its uses, a parsed pattern.
// Out: node sets in the order of their start nodes, each once for a start node. A set is reported only if at most
//       max_outputs values leave it; a value that is read outside of the set leaves it.
// Cost: for each start node, the partial matches reached from it, at most max_partial.
// Not here: convexity, and what the backend supports (candidates.h).
#pragma once

#include <cstddef>
#include <vector>

#include "ir/graph.h"
#include "region/region.h"
#include "region/rules/pattern.h"

namespace collage {

struct MatchOptions {
  std::size_t max_nodes = 12;
  std::size_t max_outputs = 1;
  std::size_t max_partial = 20000;  ///< partial matches examined for one start node
};

[[nodiscard]] std::vector<NodeSet> match_pattern(const Graph& graph, const Uses& uses, const PatternForm& pattern,
                                                 const MatchOptions& options = {});

/// The step names the node's operator.
[[nodiscard]] bool names_operator(const PatternStep& step, const Node& node);
/// The node is one of the step's operators and meets its conditions.
[[nodiscard]] bool accepts(const PatternStep& step, const Graph& graph, const Node& node);

}  // namespace collage
