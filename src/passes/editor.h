// Edits a graph: while a pass adds, replaces and removes nodes, the producer and readers of each value stay known. When
// the last reader of a value is removed, its producer is removed too, so a pass never leaves dead nodes behind.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace collage {

class Editor {
 public:
  /// Takes over `graph` until finish(); `graph` outlives the editor.
  explicit Editor(Graph& graph);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Node& node(NodeId id) const { return graph_.node(id); }
  [[nodiscard]] const Value& value(ValueId id) const { return graph_.value(id); }
  /// Number of nodes when the editor was made, including those removed since; new nodes have later ids.
  [[nodiscard]] std::size_t original_nodes() const { return original_nodes_; }
  [[nodiscard]] bool is_live(NodeId id) const { return !removed_[id.index]; }

  [[nodiscard]] NodeId producer(ValueId id) const { return producer_[id.index]; }
  /// The producer of `id` when it is an ai.onnx operator of this type; null otherwise.
  [[nodiscard]] const Node* producer_op(ValueId id, std::string_view op_type) const;
  /// Live nodes that read the value, once each, bodies included.
  [[nodiscard]] const std::vector<NodeId>& readers(ValueId id) const { return readers_[id.index]; }
  /// Whether the value must keep its name, because it is a graph output or bodies read it by name.
  [[nodiscard]] bool is_pinned(ValueId id) const { return is_output_[id.index] || captured_[id.index] > 0; }
  /// Whether exactly one node reads the value and it is not pinned.
  [[nodiscard]] bool has_one_reader(ValueId id) const { return !is_pinned(id) && readers_[id.index].size() == 1; }

  /// A new value named `wanted`, or `wanted`_1, ... when that is taken.
  ValueId add_value(const std::string& wanted, ValueType type);
  ValueId add_constant(const std::string& wanted, Tensor tensor);
  /// Adds a node that is placed before `anchor`. An empty name is made from the operator's.
  NodeId insert_before(NodeId anchor, Node node);
  /// Replaces node `id` by another node, with the given name and outputs.
  void replace(NodeId id, Node node);
  void set_input(NodeId id, std::size_t i, ValueId value);
  void add_input(NodeId id, ValueId value);
  /// Sets a more precise type for a value that keeps its element type.
  void set_type(ValueId id, ValueType type) {
    graph_.value(id).type = std::move(type);
    changed_ = true;
  }

  /// True when bypass(id, value) would work.
  [[nodiscard]] bool can_bypass(NodeId id, ValueId value) const;
  /// Removes a node of which only the first output is used; its readers read `value` instead. If that output is pinned,
  /// it replaces `value` instead, which must then be computed and not pinned. False, with no change, if that is not
  /// possible.
  bool bypass(NodeId id, ValueId value);
  /// Removes node `id`; the producer of `value` produces the first output of `id` instead. For a fusion that changes
  /// the numbers of `value`, which is computed and read by `id` only.
  void absorb(NodeId id, ValueId value);
  /// Replaces `from` by `to` in all readers; `from` must not be pinned.
  void move_readers(ValueId from, ValueId to);
  /// Replaces a computed, unpinned value by a constant. Its producer is removed when its other outputs are not used.
  void make_constant(ValueId id, Tensor tensor);
  /// Removes a node whose outputs are not used. False when one of them is.
  bool remove_if_dead(NodeId id);

  [[nodiscard]] bool changed() const { return changed_; }
  /// Sorts the nodes and drops the removed ones. No other function may be called afterwards.
  Result<void> finish();

 private:
  std::string fresh_value_name(const std::string& wanted);
  std::string fresh_node_name(const std::string& wanted);
  void add_reader(ValueId value, NodeId reader);
  void drop_reads(NodeId reader, const std::vector<ValueId>& values);
  bool reads(NodeId reader, ValueId value) const;
  void collect(ValueId value);
  void grow();

  Graph& graph_;
  std::size_t original_nodes_;
  std::vector<NodeId> producer_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<bool> is_output_;
  std::vector<int> captured_;
  std::vector<bool> removed_;
  std::vector<std::size_t> position_;  ///< by node: where it belongs among the original nodes
  std::unordered_set<std::string> value_names_;
  std::unordered_set<std::string> node_names_;
  bool changed_ = false;
};

}  // namespace collage
