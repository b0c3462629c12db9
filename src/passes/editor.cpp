// Keeps producers and readers in step with every change of a graph.
// In: a verified graph and single changes. Out: a graph in topological order without dead nodes made by the changes.
#include "passes/editor.h"

#include <algorithm>
#include <numeric>

namespace collage {
namespace {

std::string fresh(std::unordered_set<std::string>& taken, const std::string& wanted) {
  if (taken.insert(wanted).second) return wanted;
  for (std::size_t i = 1;; ++i)
    if (std::string name = wanted + "_" + std::to_string(i); taken.insert(name).second) return name;
}

/// A new value must not hide a name that a body defines for itself or reads from outside.
void reserve_names(const Graph& body, std::unordered_set<std::string>& names) {
  for (const Value& value : body.values) names.insert(value.name);
  for (const Node& node : body.nodes)
    for (const Graph* inner : bodies_of(node)) reserve_names(*inner, names);
}

}  // namespace

Editor::Editor(Graph& graph) : graph_(graph), original_nodes_(graph.nodes.size()) {
  Uses uses = uses_of(graph);
  producer_ = std::move(uses.producer);
  readers_ = std::move(uses.consumers);
  is_output_ = std::move(uses.is_output);
  captured_.resize(graph.values.size(), 0);
  removed_.resize(graph.nodes.size(), false);
  position_.resize(graph.nodes.size());
  std::iota(position_.begin(), position_.end(), std::size_t{0});
  for (const Value& value : graph.values) value_names_.insert(value.name);
  for (const Node& node : graph.nodes) {
    node_names_.insert(node.name);
    for (const ValueId id : node.captures) ++captured_[id.index];
    for (const Graph* body : bodies_of(node)) reserve_names(*body, value_names_);
  }
}

const Node* Editor::producer_op(ValueId id, std::string_view op_type) const {
  if (!id.valid() || !producer(id).valid()) return nullptr;
  const Node& made_by = node(producer(id));
  return is_op(made_by, op_type) ? &made_by : nullptr;
}

std::string Editor::fresh_value_name(const std::string& wanted) { return fresh(value_names_, wanted); }
std::string Editor::fresh_node_name(const std::string& wanted) { return fresh(node_names_, wanted); }

void Editor::grow() {
  producer_.resize(graph_.values.size());
  readers_.resize(graph_.values.size());
  is_output_.resize(graph_.values.size(), false);
  captured_.resize(graph_.values.size(), 0);
}

ValueId Editor::add_value(const std::string& wanted, ValueType type) {
  const ValueId id = collage::add_value(graph_, fresh_value_name(wanted), std::move(type));
  grow();
  return id;
}

ValueId Editor::add_constant(const std::string& wanted, Tensor tensor) {
  const ValueId id = collage::add_constant(graph_, fresh_value_name(wanted), std::move(tensor));
  grow();
  return id;
}

void Editor::add_reader(ValueId value, NodeId reader) {
  if (!value.valid()) return;
  std::vector<NodeId>& readers = readers_[value.index];
  if (std::find(readers.begin(), readers.end(), reader) == readers.end()) readers.push_back(reader);
}

bool Editor::reads(NodeId reader, ValueId value) const {
  const auto holds = [&](const std::vector<ValueId>& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return holds(node(reader).inputs) || holds(node(reader).captures);
}

/// `values` were read by `reader` before it changed; forgets those it reads no longer.
void Editor::drop_reads(NodeId reader, const std::vector<ValueId>& values) {
  for (const ValueId value : values) {
    if (!value.valid() || (is_live(reader) && reads(reader, value))) continue;
    std::erase(readers_[value.index], reader);
    collect(value);
  }
}

void Editor::collect(ValueId value) {
  if (readers_[value.index].empty() && producer(value).valid()) remove_if_dead(producer(value));
}

bool Editor::remove_if_dead(NodeId id) {
  if (!is_live(id)) return true;
  for (const ValueId output : node(id).outputs)
    if (output.valid() && (is_pinned(output) || !readers_[output.index].empty())) return false;
  removed_[id.index] = true;
  changed_ = true;
  node_names_.erase(node(id).name);
  for (const ValueId captured : node(id).captures) --captured_[captured.index];
  for (const ValueId output : node(id).outputs)
    if (output.valid()) producer_[output.index] = {};
  drop_reads(id, node(id).inputs);
  drop_reads(id, node(id).captures);
  return true;
}

NodeId Editor::insert_before(NodeId anchor, Node node) {
  changed_ = true;
  node.name = fresh_node_name(node.name.empty() ? node.op_type : node.name);
  const NodeId id = add_node(graph_, std::move(node));
  removed_.push_back(false);
  position_.push_back(position_[anchor.index]);
  for (const ValueId input : graph_.node(id).inputs) add_reader(input, id);
  for (const ValueId output : graph_.node(id).outputs)
    if (output.valid()) producer_[output.index] = id;
  return id;
}

void Editor::replace(NodeId id, Node node) {
  changed_ = true;
  COLLAGE_CHECK(graph_.node(id).captures.empty() && node.captures.empty(), node.name);
  std::stable_sort(node.attributes.begin(), node.attributes.end(),
                   [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
  const std::string wanted = node.name;
  const Node old = std::exchange(graph_.node(id), std::move(node));
  graph_.node(id).name = old.name;
  for (const ValueId output : old.outputs)
    if (output.valid()) producer_[output.index] = {};
  for (const ValueId output : graph_.node(id).outputs)
    if (output.valid()) producer_[output.index] = id;
  for (const ValueId input : graph_.node(id).inputs) add_reader(input, id);
  drop_reads(id, old.inputs);
  // Only now: the name may be that of a node which has just gone.
  if (wanted == old.name) return;
  node_names_.erase(old.name);
  graph_.node(id).name = fresh_node_name(wanted);
}

void Editor::set_input(NodeId id, std::size_t i, ValueId value) {
  const ValueId old = graph_.node(id).inputs[i];
  if (old == value) return;
  changed_ = true;
  graph_.node(id).inputs[i] = value;
  add_reader(value, id);
  if (old.valid()) drop_reads(id, {old});
}

void Editor::add_input(NodeId id, ValueId value) {
  changed_ = true;
  graph_.node(id).inputs.push_back(value);
  add_reader(value, id);
}

bool Editor::can_bypass(NodeId id, ValueId value) const {
  const Node& gone = node(id);
  if (gone.outputs.empty() || !gone.outputs[0].valid() || gone.outputs[0] == value) return false;
  for (std::size_t i = 1; i < gone.outputs.size(); ++i)
    if (gone.outputs[i].valid() && (is_pinned(gone.outputs[i]) || !readers(gone.outputs[i]).empty())) return false;
  if (!is_pinned(gone.outputs[0])) return true;
  return producer(value).valid() && !is_pinned(value) && producer(value) != id;
}

bool Editor::bypass(NodeId id, ValueId value) {
  if (!can_bypass(id, value)) return false;
  changed_ = true;
  const ValueId output = node(id).outputs[0];
  if (!is_pinned(output)) {
    move_readers(output, value);
    remove_if_dead(id);
    return true;
  }
  absorb(id, value);
  return true;
}

void Editor::absorb(NodeId id, ValueId value) {
  COLLAGE_CHECK(producer(value).valid() && !is_pinned(value), this->value(value).name);
  changed_ = true;
  const ValueId output = node(id).outputs[0];
  const NodeId maker = producer(value);
  const std::vector<ValueId> old_inputs = node(id).inputs;
  removed_[id.index] = true;
  node_names_.erase(node(id).name);
  for (ValueId& made : graph_.node(maker).outputs)
    if (made == value) made = output;
  producer_[output.index] = maker;
  producer_[value.index] = {};
  if (!graph_.value(output).type.is_static()) graph_.value(output).type = graph_.value(value).type;
  std::erase(readers_[value.index], id);
  move_readers(value, output);
  drop_reads(id, old_inputs);
}

void Editor::move_readers(ValueId from, ValueId to) {
  COLLAGE_CHECK(!is_pinned(from), value(from).name);
  const std::vector<NodeId> readers = std::exchange(readers_[from.index], {});
  for (const NodeId reader : readers) {
    for (ValueId& input : graph_.node(reader).inputs)
      if (input == from) input = to;
    add_reader(to, reader);
  }
  changed_ = true;
  collect(from);
}

void Editor::make_constant(ValueId id, Tensor tensor) {
  COLLAGE_CHECK(!is_output_[id.index], value(id).name);
  changed_ = true;
  const NodeId maker = producer(id);
  if (maker.valid()) {
    for (ValueId& output : graph_.node(maker).outputs)
      if (output == id) output = {};
    producer_[id.index] = {};
  }
  Value& target = graph_.value(id);
  target.type = tensor.value_type();
  target.constant = std::move(tensor);
  if (maker.valid()) remove_if_dead(maker);
}

Result<void> Editor::finish() {
  if (!changed_) return {};
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
    if (!removed_[n]) order.push_back(n);
  // Inserted nodes have later ids, so ties put them behind the anchor; the key puts them before it.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t n) { return 2 * position_[n] + (n < original_nodes_ ? 1 : 0); };
    return key(a) < key(b);
  });
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (const std::size_t n : order) nodes.push_back(std::move(graph_.nodes[n]));
  graph_.nodes = std::move(nodes);
  COLLAGE_TRY(graph_, normalised(graph_));
  return {};
}

}  // namespace collage
