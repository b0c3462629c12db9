// Chooses the dimension order of nodes between Transposes so that the least data has to be transposed.
// In:  a graph, often exported from a framework with channels last, with a Transpose before and after each convolution.
// Out: the same computation, with the nodes in between working in the dimension order of their neighbours.
// How: for one permutation at a time, every node that works in any dimension order either stays as it is or is
//       permuted. A value that is needed in an order other than the one it is produced in costs its bytes, once. The
//       cheapest assignment is a minimum cut. Moving Transposes one at a time is not enough, because several may have
//       to move together before any of them cancels.
// Example: a = Transpose(x), b = Transpose(y), c = Relu(a + b), z = inverse Transpose(c), all of 64 bytes. If both Add
// and Relu stay, a, b and z cost 192 bytes. If only Add is permuted, its result and z cost 128. If both are permuted, z
// = Relu(x + y) and nothing is transposed.
#include <algorithm>
#include <map>
#include <set>

#include "passes/layout_free.h"
#include "passes/min_cut.h"
#include "passes/pass.h"

namespace collage {
namespace {

// A Transpose costs a step in addition to its bytes; one that moves no bytes still costs an engine a little.
constexpr std::int64_t kStepBytes = 4096;
constexpr std::int64_t kViewCost = 512;
constexpr std::int64_t kUnknownCost = std::int64_t{1} << 20;

class Turning {
 public:
  Turning(Editor& editor, Permutation perm) : editor_(editor), perm_(std::move(perm)), back_(inverse(perm_)) {}

  /// True when some nodes were turned.
  bool run() {
    find_nodes();
    if (free_.empty()) return false;
    const std::int64_t before = cost_now();
    if (before == 0) return false;
    build();
    // Small gains do not justify the many additional steps that such an assignment creates.
    if (cut_.solve() > before - before / 16) return false;
    for (auto& [node, info] : free_)
      if (cut_.is_source_side(info.variable)) turned_.insert(node);
    for (const std::uint32_t node : turned_) turn(NodeId{node});
    tidy();
    return !turned_.empty();
  }

 private:
  struct FreeNode {
    LayoutFree ports;
    std::size_t variable = 0;
  };

  const Graph& graph() const { return editor_.graph(); }
  bool has_rank(ValueId id) const { return rank_of(graph(), id) == perm_.size(); }
  bool is_transpose(NodeId id, const Permutation& perm) const {
    return editor_.is_live(id) && is_op(editor_.node(id), "Transpose") &&
           permutation_of(graph(), editor_.node(id)) == perm;
  }

  void find_nodes() {
    for (std::uint32_t n = 0; n < graph().nodes.size(); ++n) {
      if (!editor_.is_live(NodeId{n}) || !bodies_of(graph().nodes[n]).empty()) continue;
      if (auto ports = layout_free(graph(), graph().nodes[n], perm_))
        free_[n] = FreeNode{.ports = std::move(*ports), .variable = cut_.add_node()};
    }
  }

  std::int64_t weight(ValueId id) const {
    const auto extents = static_extents(graph(), id);
    if (!extents) return kUnknownCost;
    if (keeps_bytes(*extents, back_)) return kViewCost;
    return static_cast<std::int64_t>(bytes_of(graph(), id)) + kStepBytes;
  }

  /// Values that the choice concerns: made or read in this frame by a free node, or by one of the Transposes
  /// considered.
  bool is_concerned(ValueId id) const {
    if (constant_of(graph(), id) != nullptr || !has_rank(id)) return false;
    if (source_variable(id) != MinCut::kSink) return true;
    const auto& readers = editor_.readers(id);
    return std::any_of(readers.begin(), readers.end(),
                       [&](NodeId r) { return reader_variable(r, id) != MinCut::kSink; });
  }

  /// The order in which the value is produced; the source represents the permuted order.
  std::size_t source_variable(ValueId id) const {
    const NodeId maker = editor_.producer(id);
    if (!maker.valid()) return MinCut::kSink;
    if (is_transpose(maker, perm_)) return MinCut::kSource;
    const auto free = free_.find(maker.index);
    return free != free_.end() && free->second.ports.output_framed ? free->second.variable : MinCut::kSink;
  }

  std::size_t reader_variable(NodeId reader, ValueId id) const {
    if (is_transpose(reader, back_)) return MinCut::kSource;
    const auto free = free_.find(reader.index);
    if (free == free_.end()) return MinCut::kSink;
    const Node& node = editor_.node(reader);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == id && !free->second.ports.framed[i]) return MinCut::kSink;
    return free->second.variable;
  }

  /// The cost with nothing turned.
  std::int64_t cost_now() const {
    std::int64_t cost = 0;
    for (std::uint32_t v = 0; v < graph().values.size(); ++v) {
      const ValueId id{v};
      if (!is_concerned(id)) continue;
      const bool made_turned = source_variable(id) == MinCut::kSource;
      bool differs = made_turned && editor_.is_pinned(id);
      for (const NodeId reader : editor_.readers(id))
        differs = differs || (reader_variable(reader, id) == MinCut::kSource) != made_turned;
      if (differs) cost += weight(id);
    }
    return cost;
  }

  void build() {
    for (std::uint32_t v = 0; v < graph().values.size(); ++v) {
      const ValueId id{v};
      if (!is_concerned(id)) continue;
      const std::size_t source = source_variable(id);
      const std::size_t any_turned = cut_.add_node();
      const std::size_t all_turned = cut_.add_node();
      cut_.add_edge(any_turned, source, weight(id));
      cut_.add_edge(source, all_turned, weight(id));
      const auto read_by = [&](std::size_t reader) {
        cut_.add_edge(reader, any_turned, MinCut::kInfinite);
        cut_.add_edge(all_turned, reader, MinCut::kInfinite);
      };
      for (const NodeId reader : editor_.readers(id)) read_by(reader_variable(reader, id));
      if (editor_.is_pinned(id)) read_by(MinCut::kSink);
    }
  }

  /// `id` in the turned order, made where it is not there yet.
  ValueId turned_value(ValueId id, NodeId reader) {
    if (const Tensor* constant = constant_of(graph(), id)) return turned_constant(id, *constant);
    const NodeId maker = editor_.producer(id);
    if (maker.valid() && is_transpose(maker, perm_)) return editor_.node(maker).inputs[0];
    if (const auto known = turned_values_.find(id.index); known != turned_values_.end()) return known->second;
    const ValueId made =
        editor_.add_value(editor_.value(id).name + "_transposed", permuted(editor_.value(id).type, back_));
    insert_transpose(reader, id, made, back_);
    return turned_values_[id.index] = made;
  }

  ValueId turned_constant(ValueId id, const Tensor& constant) {
    if (constant.size() == 1 && constant.extents.size() < perm_.size()) return id;
    Extents full(perm_.size() - constant.extents.size(), 1);
    full.insert(full.end(), constant.extents.begin(), constant.extents.end());
    const std::string name = editor_.value(id).name + "_transposed";
    return editor_.add_constant(name, permuted(with_extents(constant, full), back_));
  }

  NodeId insert_transpose(NodeId anchor, ValueId from, ValueId to, const Permutation& perm) {
    return editor_.insert_before(anchor, Node{.name = editor_.value(to).name + "_transpose",
                                              .domain = {},
                                              .op_type = "Transpose",
                                              .inputs = {from},
                                              .outputs = {to},
                                              .captures = {},
                                              .attributes = {Attribute{.name = "perm", .value = perm}}});
  }

  void turn(NodeId id) {
    if (!editor_.is_live(id)) return;
    const FreeNode& info = free_.at(id.index);
    const Node original = editor_.node(id);
    Node node = with_renamed_axes(editor_, original, perm_);
    for (std::size_t i = 0; i < info.ports.framed.size(); ++i)
      if (info.ports.framed[i] && original.inputs[i].valid()) node.inputs[i] = turned_value(original.inputs[i], id);
    if (!info.ports.output_framed) {
      editor_.replace(id, std::move(node));
      return;
    }
    std::vector<std::pair<ValueId, ValueId>> made;
    for (ValueId& output : node.outputs) {
      if (!output.valid()) continue;
      const ValueType type = permuted(editor_.value(output).type, back_);
      const ValueId twin = editor_.add_value(editor_.value(output).name + "_transposed", type);
      made.emplace_back(output, twin);
      output = twin;
    }
    editor_.replace(id, std::move(node));
    for (const auto& [plain, twin] : made) {
      added_.push_back(insert_transpose(id, twin, plain, perm_));
      turned_values_[plain.index] = twin;
    }
  }

  /// Removes Transposes that cancel with their inverses, and those that are not used.
  void tidy() {
    for (std::uint32_t n = 0; n < graph().nodes.size(); ++n) {
      const NodeId id{n};
      if (!is_transpose(id, back_)) continue;
      const ValueId input = editor_.node(id).inputs[0];
      const NodeId maker = editor_.producer(input);
      if (maker.valid() && is_transpose(maker, perm_)) editor_.bypass(id, editor_.node(maker).inputs[0]);
    }
    for (const NodeId id : added_) editor_.remove_if_dead(id);
  }

  Editor& editor_;
  Permutation perm_;
  Permutation back_;
  MinCut cut_;
  std::map<std::uint32_t, FreeNode> free_;  ///< by node
  std::set<std::uint32_t> turned_;
  std::map<std::uint32_t, ValueId> turned_values_;  ///< by plain value
  std::vector<NodeId> added_;
};

std::set<Permutation> permutations_in(const Graph& graph) {
  std::set<Permutation> result;
  for (const Node& node : graph.nodes)
    if (is_op(node, "Transpose"))
      if (const auto perm = permutation_of(graph, node); perm && !is_identity(*perm)) result.insert(*perm);
  return result;
}

}  // namespace

Result<bool> sink_transposes(Graph& graph, PassContext&) {
  bool changed = false;
  for (const Permutation& perm : permutations_in(graph)) {
    Editor editor(graph);
    const bool turned = Turning(editor, perm).run();
    COLLAGE_TRY_VOID(editor.finish());
    changed = changed || turned;
  }
  return changed;
}

}  // namespace collage
