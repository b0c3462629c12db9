// A region: a set of nodes of one graph, with the values that enter and leave it.
// In:  a verified graph and its uses. Out: regions and facts about them. All functions are pure and deterministic.
// Cost: linear in the region's own nodes and operands, independent of the graph's size; reachability takes 2 n^2 bits
//       for n nodes and one pass over the edges.
// Not here: which regions are legal (check_region.h), and which a backend is asked about (partition_rule.h).
// Source: sub-graphs of TVM's RFC 62 (Collage), with values in place of exit nodes.
#pragma once

#include <string>
#include <vector>

#include "base/bit_set.h"
#include "ir/graph.h"

namespace collage {

using NodeSet = BitSet;  ///< over node indices of one graph

/// "{0,3..7,9}": runs of three and more as first..last.
[[nodiscard]] std::string to_string(const NodeSet& nodes);
/// The set over `graph`'s nodes with these members.
[[nodiscard]] NodeSet node_set(const Graph& graph, const std::vector<std::size_t>& members);

/// The label of a rule on the nodes that it matched inside a region.
struct Match {
  std::string label;
  NodeSet nodes;
  bool operator==(const Match&) const = default;
};

struct Region {
  NodeSet nodes;                   ///< computed by the region
  NodeSet repeated = {};           ///< of these, the ones another step computes as well: their values stay inside;
                                   ///< of universe 0 when there are none
  std::vector<ValueId> inputs;     ///< computed or graph-input values read from outside, by first use
  std::vector<ValueId> constants;  ///< constants read, by first use
  std::vector<ValueId> outputs;    ///< values of covered nodes needed outside or graph outputs, by production
  /// Disjoint; what the rule that proposed the region to a backend matched in it. Set in the copy that this backend is
  /// given: the computation, and so ==, is the same without.
  std::vector<Match> matches = {};

  [[nodiscard]] bool repeats(std::size_t node) const { return repeated.universe() != 0 && repeated.contains(node); }
  /// The nodes that need no other step: all but the repeated ones.
  [[nodiscard]] NodeSet covered() const { return repeated.universe() == 0 ? nodes : nodes - repeated; }
  bool operator==(const Region& other) const { return nodes == other.nodes && repeated == other.repeated; }
};

/// The border of a set of nodes. Values that bodies of its nodes capture count as read by those nodes.
[[nodiscard]] Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes);
/// The same for a region that computes `repeated`, a subset of `nodes` over the same universe, for itself only.
[[nodiscard]] Region make_region(const Graph& graph, const Uses& uses, NodeSet nodes, NodeSet repeated);
[[nodiscard]] Region whole_region(const Graph& graph, const Uses& uses);

/// Whether a node outside of the set reads the value.
[[nodiscard]] bool is_read_outside(const Uses& uses, ValueId id, const NodeSet& nodes);

/// Outputs that are also read inside the region.
[[nodiscard]] std::vector<ValueId> taps_of(const Uses& uses, const Region& region);
/// The longest path inside the region, counted in nodes; 0 for the empty region only.
[[nodiscard]] std::size_t depth_of(const Graph& graph, const Uses& uses, const NodeSet& nodes);

/// Node reachability, for convexity tests: row i holds every other node that node i can reach.
class Reachability {
 public:
  Reachability(const Graph& graph, const Uses& uses);
  [[nodiscard]] const NodeSet& descendants(std::size_t node) const { return descendants_[node]; }
  [[nodiscard]] const NodeSet& ancestors(std::size_t node) const { return ancestors_[node]; }
  /// Whether no path leaves the set and comes back, so that the set can run as one step.
  [[nodiscard]] bool is_convex(const NodeSet& nodes) const;

 private:
  std::vector<NodeSet> descendants_;
  std::vector<NodeSet> ancestors_;
};

/// Whether every value that crosses the border to other regions is a static tensor; graph outputs may be anything.
[[nodiscard]] bool has_static_border(const Graph& graph, const Uses& uses, const Region& region);
/// Whether every value that crosses the border to other regions can pass from one step to another: a tensor of known
/// rank whose elements have a fixed size, or a held value.
[[nodiscard]] bool has_passed_border(const Graph& graph, const Uses& uses, const Region& region);

/// The region as a graph of its own: inputs and outputs are the region's, in order; nodes and values keep their names.
[[nodiscard]] Graph extract(const Graph& graph, const Region& region);

/// Constants with at most this many elements are part of a computation's structure, if they are not weights.
constexpr std::int64_t kMaxStructuralElements = 64;

/// By value: the constants that nodes of the set read whose contents are part of the structure. The others are weights:
/// large constants, and vectors of floats that are multiplied with or added to what is computed, such as the bias of a
/// convolution. What weights contain changes neither the time of a kernel nor whether there is one.
[[nodiscard]] std::vector<bool> structural_constants(const Graph& graph, const NodeSet& nodes);

/// The structure key of the region: equal for equal structure, types, shapes and structural constants, in any graph.
/// Names and the contents of weights do not matter.
[[nodiscard]] std::string structure_key(const Graph& graph, const Region& region);
/// The same for what was measured: with open inputs or outputs, it includes their extents in the recorded run.
[[nodiscard]] std::string measured_key(const Graph& graph, const Region& region);

}  // namespace collage
