#include "bench/operators/region_cutter.h"

#include <algorithm>
#include <optional>

#include "bench/operators/operator_classes.h"
#include "numbers/region_numbers.h"
#include "region/rules/fusion_class.h"

namespace collage::bench {
namespace {

/// Nodes that follow a heavy operator; what models and libraries fuse is no longer.
constexpr std::size_t kMostEpilogue = 5;
/// Nodes between the two products of an attention.
constexpr std::size_t kMostInAttention = 6;
constexpr std::size_t kLongestChain = 12;
constexpr std::size_t kMostChainOutputs = 4;

bool is_resize(const Node& node) { return is_op(node, "Resize"); }

/// After a jump rounding errors of any size are right, so results cannot be compared; a quantiser's can, by steps.
bool jumps(const Graph& graph, const Node& node) {
  return numbers_of(graph, node) == NumericKind::kJumps && !is_op(node, "QuantizeLinear");
}

bool makes_chains(const Graph& graph, const Node& node) {
  return is_resize(node) || (fusion_class_of(node) <= FusionClass::kInjective && !jumps(graph, node));
}

bool is_arithmetic(const Node& node) { return fusion_class_of(node) <= FusionClass::kBroadcast; }

class Cutter {
 public:
  explicit Cutter(const Graph& graph)
      : graph_(graph), uses_(uses_of(graph)), reach_(graph, uses_), taken_(graph.nodes.size()) {}

  std::vector<Cut> run() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!class_of(graph_, graph_.nodes[n]).empty()) taken_.insert(n);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) cut_heavy(n);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) cut_attention(n);
    cut_chains();
    cut_rest();
    return std::move(cuts_);
  }

 private:
  void keep(NodeSet nodes, std::string_view class_name, std::size_t anchor, bool counts = true) {
    Cut cut{.region = make_region(graph_, uses_, std::move(nodes)),
            .class_name = std::string(class_name),
            .anchor = anchor,
            .counts = counts};
    if (has_static_border(graph_, uses_, cut.region)) cuts_.push_back(std::move(cut));
  }

  void cut_heavy(std::size_t n) {
    const std::string_view class_name = class_of(graph_, graph_.nodes[n]);
    if (class_name.empty()) return;
    NodeSet nodes = node_set(graph_, {n});
    if (takes_epilogue(class_name) && graph_.nodes[n].outputs.size() == 1)
      add_epilogue(nodes, graph_.nodes[n].outputs[0]);
    taken_ |= nodes;
    keep(std::move(nodes), class_name, n);
  }

  void add_epilogue(NodeSet& nodes, ValueId value) {
    std::size_t operands = 0;
    for (std::size_t length = 0; length < kMostEpilogue; ++length) {
      const std::vector<std::size_t> next = next_in_epilogue(value);
      if (next.empty()) return;
      NodeSet grown = nodes | node_set(graph_, next);
      operands += outside_operands(next, grown);
      if (operands > 1) return;
      nodes = std::move(grown);
      value = graph_.nodes[next.back()].outputs[0];
    }
  }

  /// The one reader of a value, or two of which one reads the other: x * sigmoid(x).
  [[nodiscard]] std::vector<std::size_t> next_in_epilogue(ValueId value) const {
    if (uses_.is_output[value.index]) return {};
    std::vector<std::size_t> readers;
    for (const NodeId id : uses_.consumers[value.index]) readers.push_back(id.index);
    if (readers.empty() || readers.size() > 2) return {};
    const bool fit = std::ranges::all_of(readers, [&](std::size_t r) { return fits_behind(r, value); });
    if (!fit) return {};
    if (readers.size() == 2 && !is_only_reader(readers[1], graph_.nodes[readers[0]].outputs[0])) return {};
    return readers;
  }

  [[nodiscard]] bool fits_behind(std::size_t n, ValueId value) const {
    const Node& node = graph_.nodes[n];
    if (taken_.contains(n) || node.outputs.size() != 1 || !is_arithmetic(node) || jumps(graph_, node)) return false;
    const ValueType& made = graph_.value(node.outputs[0]).type;
    const ValueType& read = graph_.value(value).type;
    return made.is_static() && read.is_static() && made.extents() == read.extents();
  }

  [[nodiscard]] bool is_only_reader(std::size_t n, ValueId value) const {
    const auto& readers = uses_.consumers[value.index];
    return readers.size() == 1 && readers[0].index == n && !uses_.is_output[value.index];
  }

  /// Computed values that `added` reads from outside `nodes`.
  [[nodiscard]] std::size_t outside_operands(const std::vector<std::size_t>& added, const NodeSet& nodes) const {
    std::size_t count = 0;
    for (const std::size_t n : added)
      for (const ValueId id : graph_.nodes[n].inputs) {
        if (!id.valid() || graph_.value(id).constant) continue;
        const NodeId producer = uses_.producer[id.index];
        count += !producer.valid() || !nodes.contains(producer.index);
      }
    return count;
  }

  /// Product, scale and mask, softmax, product.
  void cut_attention(std::size_t n) {
    if (!is_op(graph_.nodes[n], "Softmax")) return;
    NodeSet nodes = node_set(graph_, {n});
    const auto last = behind_softmax(n, nodes);
    const auto first = before_softmax(n, nodes);
    if (!first || !last) return;
    if (reach_.is_convex(nodes)) keep(std::move(nodes), "attention", n, false);
  }

  [[nodiscard]] std::optional<std::size_t> behind_softmax(std::size_t n, NodeSet& nodes) const {
    for (std::size_t length = 0; length < kMostInAttention; ++length) {
      const ValueId value = graph_.nodes[n].outputs[0];
      const auto& readers = uses_.consumers[value.index];
      if (readers.size() != 1 || uses_.is_output[value.index]) return std::nullopt;
      n = readers[0].index;
      nodes.insert(n);
      if (is_op(graph_.nodes[n], "MatMul")) return n;
      if (!makes_chains(graph_, graph_.nodes[n])) return std::nullopt;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> before_softmax(std::size_t n, NodeSet& nodes) const {
    for (std::size_t length = 0; length < kMostInAttention; ++length) {
      const auto from = main_producer(n);
      if (!from) return std::nullopt;
      n = *from;
      nodes.insert(n);
      if (is_op(graph_.nodes[n], "MatMul")) return n;
      if (!makes_chains(graph_, graph_.nodes[n])) return std::nullopt;
    }
    return std::nullopt;
  }

  /// Who makes the operand of the result's size.
  [[nodiscard]] std::optional<std::size_t> main_producer(std::size_t n) const {
    const ValueType& out = graph_.value(graph_.nodes[n].outputs[0]).type;
    for (const ValueId id : graph_.nodes[n].inputs) {
      if (!id.valid() || !uses_.producer[id.index].valid()) continue;
      const ValueType& in = graph_.value(id).type;
      if (in.is_static() && out.is_static() && element_count(in.extents()) == element_count(out.extents()) &&
          uses_.consumers[id.index].size() == 1)
        return uses_.producer[id.index].index;
    }
    return std::nullopt;
  }

  /// Joins each node with the runs that its operands come from, as long as the whole can be one step.
  void cut_chains() {
    std::vector<NodeSet> chains;
    std::vector<std::size_t> chain_of(graph_.nodes.size(), graph_.nodes.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (taken_.contains(n) || !makes_chains(graph_, graph_.nodes[n])) continue;
      chain_of[n] = chains.size();
      chains.push_back(node_set(graph_, {n}));
      for (const ValueId id : graph_.nodes[n].inputs) {
        const NodeId producer = id.valid() ? uses_.producer[id.index] : NodeId{};
        if (producer.valid() && chain_of[producer.index] < chains.size())
          join(chains, chain_of, chain_of[producer.index], chain_of[n]);
      }
    }
    for (const NodeSet& chain : chains)
      if (!chain.empty()) keep_chain(chain);
  }

  void join(std::vector<NodeSet>& chains, std::vector<std::size_t>& chain_of, std::size_t from, std::size_t to) const {
    if (from == to) return;
    NodeSet both = chains[from] | chains[to];
    if (both.count() > kLongestChain || !reach_.is_convex(both)) return;
    if (make_region(graph_, uses_, both).outputs.size() > kMostChainOutputs) return;
    for (const std::size_t n : chains[from].members()) chain_of[n] = to;
    chains[from] = NodeSet(graph_.nodes.size());
    chains[to] = std::move(both);
  }

  void keep_chain(const NodeSet& chain) {
    taken_ |= chain;
    const std::vector<std::size_t> members = chain.members();
    const auto find = [&](auto&& wanted) -> std::optional<std::size_t> {
      const auto found = std::ranges::find_if(members, [&](std::size_t n) { return wanted(graph_.nodes[n]); });
      return found == members.end() ? std::nullopt : std::optional(*found);
    };
    if (const auto resize = find(is_resize)) return keep(chain, "resize", *resize);
    if (const auto concat = find([](const Node& node) { return is_op(node, "Concat"); }))
      return keep(chain, "concat", *concat);
    const auto work = find(is_arithmetic);
    keep(chain, work && members.size() > 1 && reads_floats(chain) ? "elementwise" : "", work.value_or(members[0]));
  }

  /// Arithmetic on integers in models is of shapes and positions, or emulates hardware.
  [[nodiscard]] bool reads_floats(const NodeSet& nodes) const {
    return std::ranges::all_of(make_region(graph_, uses_, nodes).inputs, [&](ValueId id) {
      const ElementType element = graph_.value(id).type.element;
      return is_float(element) || element == ElementType::kBool;
    });
  }

  void cut_rest() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!taken_.contains(n)) keep(node_set(graph_, {n}), "", n);
  }

  const Graph& graph_;
  Uses uses_;
  Reachability reach_;
  NodeSet taken_;  ///< in a cut, or the anchor of one
  std::vector<Cut> cuts_;
};

}  // namespace

std::vector<Cut> cut_regions(const Graph& graph) { return Cutter(graph).run(); }

}  // namespace collage::bench
