// A set of nodes of one graph and what crosses its border.
#pragma once

#include <vector>

#include "base/bit_set.h"
#include "ir/graph.h"

namespace collage {

using NodeSet = BitSet;  ///< over node indices of one graph

struct Region {
  NodeSet nodes;                   ///< computed by the region
  NodeSet repeated = {};           ///< of these, the ones another step computes as well: their values stay inside
  std::vector<ValueId> inputs;     ///< computed or graph-input values read from outside, by first use
  std::vector<ValueId> constants;  ///< constants read, by first use
  std::vector<ValueId> outputs;    ///< values of covered nodes needed outside or graph outputs, by production

  /// The nodes that need no other step: all but the repeated ones.
  [[nodiscard]] NodeSet covered() const;
  bool operator==(const Region& other) const { return nodes == other.nodes && covered() == other.covered(); }
};

/// The border of a set of nodes. Values that bodies of its nodes capture count as read by those nodes.
[[nodiscard]] Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes);
/// The same for a region that computes `repeated`, a subset of `nodes`, for itself only.
[[nodiscard]] Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes, NodeSet repeated);
[[nodiscard]] Region whole_region(const Graph& graph, const Uses& uses);

/// Node reachability, for convexity tests: row i holds every other node that node i can reach.
class Reachability {
 public:
  Reachability(const Graph& graph, const Uses& uses);
  [[nodiscard]] const NodeSet& descendants(std::size_t node) const { return descendants_[node]; }
  [[nodiscard]] const NodeSet& ancestors(std::size_t node) const { return ancestors_[node]; }
  /// No path leaves the set and comes back: the set can run as one step.
  [[nodiscard]] bool is_convex(const NodeSet& nodes) const;

 private:
  std::vector<NodeSet> descendants_;
  std::vector<NodeSet> ancestors_;
};

/// Every value that crosses the border is a static tensor (values of unknown shape live inside one region or are
/// graph outputs).
[[nodiscard]] bool has_static_border(const Graph& graph, const Uses& uses, const Region& region);

/// The region as a graph of its own: inputs and outputs are the region's, in order; nodes and values keep their names.
[[nodiscard]] Graph extract(const Graph& graph, const Region& region);

/// Key of the computation, equal for equal structure, types, shapes and small constants anywhere in any graph:
/// names and the contents of constants larger than 64 elements do not matter.
[[nodiscard]] std::string structure_key(const Graph& graph, const Region& region);

}  // namespace collage
