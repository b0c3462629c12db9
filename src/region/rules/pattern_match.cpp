// Trees are matched from their root towards the inputs with backtracking, chains from their first node along readers.
#include "region/rules/pattern_match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <unordered_set>

#include "base/hash.h"

namespace collage {
namespace {

/// Node indices in ascending order: a match is a handful of nodes of a graph of thousands.
using Nodes = std::vector<std::uint32_t>;

Nodes with(const Nodes& nodes, std::uint32_t node) {
  Nodes grown = nodes;
  const auto place = std::lower_bound(grown.begin(), grown.end(), node);
  if (place == grown.end() || *place != node) grown.insert(place, node);
  return grown;
}

bool contains(const Nodes& nodes, std::uint32_t node) { return std::binary_search(nodes.begin(), nodes.end(), node); }

/// Values of the nodes that are read outside.
std::vector<ValueId> outputs_of(const Graph& graph, const Uses& uses, const Nodes& nodes) {
  std::vector<ValueId> outputs;
  for (const std::uint32_t n : nodes)
    for (const ValueId value : graph.nodes[n].outputs) {
      if (!value.valid()) continue;
      const auto& readers = uses.consumers[value.index];
      const auto is_outside = [&](NodeId reader) { return !contains(nodes, reader.index); };
      if (uses.is_output[value.index] || std::any_of(readers.begin(), readers.end(), is_outside))
        outputs.push_back(value);
    }
  return outputs;
}

bool is_commutative(const Node& node) {
  static const std::set<std::string, std::less<>> names = {
      "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Max", "Mean", "Min", "Mul", "Or", "Sum", "Xor"};
  return node.domain.empty() && names.contains(node.op_type);
}

/// Operands of more are matched in the order written: permutations grow too fast.
constexpr std::size_t kMostPermuted = 4;

class TreeMatcher {
 public:
  using Next = std::function<void()>;

  TreeMatcher(const Graph& graph, const Uses& uses, std::size_t max_partial, std::function<void(const Nodes&)> found)
      : graph_(graph), uses_(uses), left_(max_partial), found_(std::move(found)) {}

  void match_from(const PatternTerm& root, std::uint32_t node) {
    if (root.step.mark != PatternMark::kOnce && root.has_operands) match_from(root.operands.front(), node);
    take_node(root, node, [this] { found_(nodes_); });
  }

 private:
  void match_value(const PatternTerm& term, ValueId value, const Next& next) {
    if (!value.valid()) {
      if (term.may_be_absent) next();
      return;
    }
    if (left_ == 0) return;
    --left_;
    if (term.name.empty()) return match_unnamed(term, value, next);
    const auto [bound, is_new] = bound_.emplace(term.name, value);
    if (bound->second == value) match_unnamed(term, value, next);
    if (is_new) bound_.erase(term.name);
  }

  void match_unnamed(const PatternTerm& term, ValueId value, const Next& next) {
    using Kind = PatternTerm::Kind;
    if (term.kind == Kind::kAny || term.kind == Kind::kShared) return next();
    if (term.kind == Kind::kConstant) {
      if (graph_.value(value).constant) next();
      return;
    }
    if (term.step.mark != PatternMark::kOnce) {
      if (term.operands.empty())
        next();
      else
        match_value(term.operands.front(), value, next);
    }
    if (const NodeId producer = uses_.producer[value.index]; producer.valid()) take_node(term, producer.index, next);
  }

  /// Matches an operator and its operands at a node.
  void take_node(const PatternTerm& term, std::uint32_t index, const Next& next) {
    const Node& node = graph_.nodes[index];
    if (!accepts(term.step, graph_, node)) return;
    const Nodes before = nodes_;
    nodes_ = with(nodes_, index);
    if (term.has_operands)
      match_operands(term, node, next);
    else
      next();
    nodes_ = before;
  }

  void match_operands(const PatternTerm& term, const Node& node, const Next& next) {
    std::vector<ValueId> inputs = node.inputs;
    while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
    if (inputs.size() > term.operands.size() && !term.takes_more) return;
    std::vector<PatternTerm> operands = term.operands;
    if (term.step.mark == PatternMark::kRepeated) {
      // Below a repeated operator stands the operator again, or what it stands on.
      operands.front() = term;
      operands.front().name.clear();
    }
    std::vector<std::size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool permute = is_commutative(node) && order.size() <= kMostPermuted;
    do {
      match_list(operands, 0, inputs, order, next);
    } while (permute && std::next_permutation(order.begin(), order.end()));
  }

  void match_list(const std::vector<PatternTerm>& operands, std::size_t i, const std::vector<ValueId>& inputs,
                  const std::vector<std::size_t>& order, const Next& next) {
    if (i == operands.size()) return next();
    const ValueId value = i < order.size() ? inputs[order[i]] : ValueId{};
    match_value(operands[i], value, [&] { match_list(operands, i + 1, inputs, order, next); });
  }

  const Graph& graph_;
  const Uses& uses_;
  std::size_t left_;
  std::function<void(const Nodes&)> found_;
  Nodes nodes_;
  std::map<std::string, ValueId> bound_;
};

struct HashOfState {
  std::size_t operator()(const std::pair<Nodes, std::size_t>& state) const {
    return hash_bytes(state.first.data(), state.first.size() * sizeof(std::uint32_t), state.second);
  }
};

/// Which steps of a chain accept which nodes: by operator first, whose kinds are few.
class StepTable {
 public:
  StepTable(const Graph& graph, const std::vector<PatternStep>& chain) : graph_(graph), chain_(chain) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> kinds;
    for (const Node& node : graph.nodes) {
      const auto kind = static_cast<std::uint32_t>(kinds.size());
      const auto [found, is_new] = kinds.try_emplace({node.op_type, node.domain}, kind);
      if (is_new)
        for (const PatternStep& step : chain) known_.push_back(names_operator(step, node));
      kind_of_.push_back(found->second);
    }
  }

  [[nodiscard]] bool accepts(std::size_t step, std::uint32_t node) const {
    return known_[kind_of_[node] * chain_.size() + step] &&
           (chain_[step].conditions.empty() || collage::accepts(chain_[step], graph_, graph_.nodes[node]));
  }

 private:
  const Graph& graph_;
  const std::vector<PatternStep>& chain_;
  std::vector<std::uint32_t> kind_of_;  ///< by node
  std::vector<bool> known_;             ///< by kind and step
};

/// Follows one chain; every complete match with few enough outputs is found.
class ChainMatcher {
 public:
  ChainMatcher(const Graph& graph, const Uses& uses, const std::vector<PatternStep>& chain, const StepTable& steps,
               const MatchOptions& options, std::function<void(const Nodes&)> found)
      : graph_(graph), uses_(uses), chain_(chain), steps_(steps), options_(options), found_(std::move(found)) {}

  void start(std::uint32_t node, std::size_t step) {
    if (step >= chain_.size()) return;
    if (steps_.accepts(step, node)) extend({node}, chain_[step].mark == PatternMark::kRepeated ? step : step + 1);
    if (chain_[step].mark != PatternMark::kOnce) start(node, step + 1);
  }

  /// `nodes` is matched up to `step`.
  void extend(const Nodes& nodes, std::size_t step) {
    if (seen_.size() >= options_.max_partial || !seen_.emplace(nodes, step).second) return;
    const std::vector<ValueId> open = outputs_of(graph_, uses_, nodes);
    const auto rest = chain_.begin() + static_cast<std::ptrdiff_t>(step);
    const bool is_complete =
        std::all_of(rest, chain_.end(), [](const PatternStep& s) { return s.mark != PatternMark::kOnce; });
    if (is_complete) found_(nodes);
    // More open ends than these seldom close again within a chain.
    const std::size_t most_open = std::max<std::size_t>(3, options_.max_outputs);
    if (nodes.size() >= options_.max_nodes || open.size() > most_open) return;
    for (std::size_t s = step; s < chain_.size(); ++s) {
      for (const ValueId value : open) extend_along(nodes, value, s);
      if (chain_[s].mark == PatternMark::kOnce) break;
    }
  }

 private:
  void extend_along(const Nodes& nodes, ValueId value, std::size_t step) {
    for (const NodeId reader : uses_.consumers[value.index])
      if (!contains(nodes, reader.index) && steps_.accepts(step, reader.index))
        extend(with(nodes, reader.index), chain_[step].mark == PatternMark::kRepeated ? step : step + 1);
  }

  const Graph& graph_;
  const Uses& uses_;
  const std::vector<PatternStep>& chain_;
  const StepTable& steps_;
  const MatchOptions& options_;
  std::function<void(const Nodes&)> found_;
  std::unordered_set<std::pair<Nodes, std::size_t>, HashOfState> seen_;
};

}  // namespace

std::vector<NodeSet> match_pattern(const Graph& graph, const Uses& uses, const PatternForm& pattern,
                                   const MatchOptions& options) {
  std::vector<NodeSet> matches;
  const StepTable steps(graph, pattern.chain);
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    std::set<Nodes> found;
    std::vector<Nodes> in_order;
    const auto keep = [&](const Nodes& nodes) {
      const std::size_t outputs = outputs_of(graph, uses, nodes).size();
      if (nodes.size() > options.max_nodes || (options.max_outputs != 0 && outputs > options.max_outputs)) return;
      if (found.insert(nodes).second) in_order.push_back(nodes);
    };
    ChainMatcher chain(graph, uses, pattern.chain, steps, options, keep);
    if (pattern.tree) {
      TreeMatcher tree(graph, uses, options.max_partial, [&](const Nodes& nodes) { chain.extend(nodes, 0); });
      tree.match_from(*pattern.tree, n);
    } else {
      chain.start(n, 0);
    }
    for (const Nodes& nodes : in_order) {
      NodeSet set(graph.nodes.size());
      for (const std::uint32_t member : nodes) set.insert(member);
      matches.push_back(std::move(set));
    }
  }
  return matches;
}

}  // namespace collage
