#include "region/candidates.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace collage {
namespace {

/// Interns regions and asks one backend about each of them once.
class PoolBuilder {
 public:
  PoolBuilder(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses), reach_(graph, uses) {}

  [[nodiscard]] const Reachability& reach() const { return reach_; }

  /// Asks `proposer` about a node set; false when the set is not a legal step or the backend refuses.
  bool ask(const Proposer& proposer, const NodeSet& nodes) {
    const auto asked = asked_.find({proposer.backend, nodes});
    if (asked != asked_.end()) return asked->second;
    const bool taken = ask_first_time(proposer, nodes);
    asked_.emplace(std::pair{proposer.backend, nodes}, taken);
    return taken;
  }

  CandidatePool take() { return std::move(pool_); }

 private:
  bool ask_first_time(const Proposer& proposer, const NodeSet& nodes) {
    if (!reach_.is_convex(nodes)) return false;
    Region region = make_region(graph_, uses_, nodes);
    if (!has_static_border(graph_, uses_, region)) return false;
    auto variants = proposer.support(region);
    const std::uint32_t index = intern(std::move(region));
    if (!variants) {
      pool_.refusals.push_back({.region = index, .backend = proposer.backend, .refusal = variants.error()});
      return false;
    }
    for (Variant& variant : *variants)
      pool_.candidates.push_back({.region = index, .backend = proposer.backend, .variant = std::move(variant)});
    return !variants->empty();
  }

  std::uint32_t intern(Region region) {
    const auto [found, added] = region_index_.emplace(region.nodes, static_cast<std::uint32_t>(pool_.regions.size()));
    if (added) pool_.regions.push_back(std::move(region));
    return found->second;
  }

  const Graph& graph_;
  const Uses& uses_;
  Reachability reach_;
  CandidatePool pool_;
  std::map<NodeSet, std::uint32_t> region_index_;
  std::map<std::pair<std::string, NodeSet>, bool> asked_;
};

/// One entry of a pattern chain, split into its alternatives and its repeat mark.
struct ChainEntry {
  std::set<std::string, std::less<>> operators;
  bool optional = false;
  bool repeats = false;
};

ChainEntry parse_entry(std::string_view text) {
  ChainEntry entry;
  if (text.ends_with('?') || text.ends_with('*')) {
    entry.optional = true;
    entry.repeats = text.back() == '*';
    text.remove_suffix(1);
  }
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    entry.operators.emplace(text.substr(0, bar));
    text = bar == std::string_view::npos ? std::string_view{} : text.substr(bar + 1);
  }
  return entry;
}

std::string qualified(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
}

bool accepts(const ChainEntry& entry, const Node& node) { return entry.operators.contains(qualified(node)); }

/// Values of the set that somebody outside needs.
std::vector<ValueId> exits(const Graph& graph, const Uses& uses, const NodeSet& nodes) {
  std::vector<ValueId> result;
  for (std::size_t n = nodes.next(); n < nodes.universe(); n = nodes.next(n + 1))
    for (ValueId value : graph.nodes[n].outputs) {
      if (!value.valid()) continue;
      const auto& readers = uses.consumers[value.index];
      const bool escapes =
          std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return !nodes.contains(reader.index); });
      if (escapes || uses.is_output[value.index]) result.push_back(value);
    }
  return result;
}

/// Matches one pattern chain from every seed, proposing each complete single-exit match.
class ChainMatcher {
 public:
  ChainMatcher(const Graph& graph, const Uses& uses, const ProposeOptions& options, const Proposer& proposer,
               PoolBuilder& pool)
      : graph_(graph), uses_(uses), options_(options), proposer_(proposer), pool_(pool) {}

  void match(const Pattern& pattern) {
    chain_.clear();
    for (const std::string& entry : pattern.chain) chain_.push_back(parse_entry(entry));
    seen_.clear();
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) start(n, 0);
  }

 private:
  void start(std::size_t node, std::size_t entry) {
    if (entry >= chain_.size()) return;
    if (accepts(chain_[entry], graph_.nodes[node])) {
      NodeSet nodes(graph_.nodes.size());
      nodes.insert(node);
      extend(nodes, chain_[entry].repeats ? entry : entry + 1);
    }
    if (chain_[entry].optional) start(node, entry + 1);
  }

  /// `nodes` is matched up to `entry`; proposes it when the rest is optional and goes on along its consumers.
  void extend(const NodeSet& nodes, std::size_t entry) {
    if (!seen_.emplace(nodes, entry).second) return;
    const std::vector<ValueId> open = exits(graph_, uses_, nodes);
    const bool complete = std::all_of(chain_.begin() + static_cast<std::ptrdiff_t>(entry), chain_.end(),
                                      [](const ChainEntry& e) { return e.optional; });
    if (complete && open.size() == 1 && nodes.count() > 1) pool_.ask(proposer_, nodes);
    if (nodes.count() >= options_.max_pattern_nodes || open.size() > 3) return;
    for (std::size_t e = entry; e < chain_.size(); ++e) {
      for (ValueId value : open)
        for (NodeId reader : uses_.consumers[value.index]) {
          if (nodes.contains(reader.index) || !accepts(chain_[e], graph_.node(reader))) continue;
          NodeSet grown = nodes;
          grown.insert(reader.index);
          extend(grown, chain_[e].repeats ? e : e + 1);
        }
      if (!chain_[e].optional) break;
    }
  }

  const Graph& graph_;
  const Uses& uses_;
  const ProposeOptions& options_;
  const Proposer& proposer_;
  PoolBuilder& pool_;
  std::vector<ChainEntry> chain_;
  std::set<std::pair<NodeSet, std::size_t>> seen_;
};

/// Grows each seed node by node along consumers while the backend keeps saying yes.
void grow_like_native(const Graph& graph, const Uses& uses, const Proposer& proposer, PoolBuilder& pool) {
  for (std::size_t seed = 0; seed < graph.nodes.size(); ++seed) {
    NodeSet nodes(graph.nodes.size());
    nodes.insert(seed);
    for (std::size_t size = 1; size < proposer.rules.max_region_nodes; ++size) {
      const std::vector<ValueId> open = exits(graph, uses, nodes);
      if (open.size() != 1 || uses.consumers[open[0].index].size() != 1) break;
      nodes.insert(uses.consumers[open[0].index][0].index);
      if (!pool.ask(proposer, nodes)) break;
    }
  }
}

/// Splits the nodes an engine takes into maximal runs in topological order.
void propose_maximal(const Graph& graph, const Proposer& proposer, const std::vector<bool>& supported,
                     PoolBuilder& pool) {
  NodeSet run(graph.nodes.size());
  const auto flush = [&] {
    if (run.count() > 1) pool.ask(proposer, run);
    run = NodeSet(graph.nodes.size());
  };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (supported[n])
      run.insert(n);
    else
      flush();
  }
  flush();
}

/// Node ranges between narrow places: blocks in doubling lengths, and the heads and tails of the graph.
void propose_ranges(const Graph& graph, const Proposer& proposer, const std::vector<std::size_t>& places,
                    const ProposeOptions& options, PoolBuilder& pool) {
  const std::size_t blocks = places.size() - 1;
  std::size_t asked = 0;
  const auto ask = [&](std::size_t from, std::size_t to) {
    NodeSet nodes(graph.nodes.size());
    for (std::size_t n = places[from]; n < places[to]; ++n) nodes.insert(n);
    if (nodes.count() < 2 || asked >= options.max_ranges_per_engine) return;
    ++asked;
    pool.ask(proposer, nodes);
  };
  ask(0, blocks);
  for (std::size_t length = std::bit_floor(blocks); length >= 1; length /= 2) {
    ask(0, length);
    if (length < blocks) ask(blocks - length, blocks);
    for (std::size_t from = length; from + length <= blocks; from += length) ask(from, from + length);
  }
}

}  // namespace

std::vector<std::size_t> narrow_places(const Graph& graph, const Uses& uses, std::size_t max_crossing) {
  std::vector<std::ptrdiff_t> change(graph.nodes.size() + 2, 0);
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (!uses.producer[v].valid() || uses.consumers[v].empty()) continue;
    ++change[uses.producer[v].index + 1];
    --change[uses.consumers[v].back().index + 1];
  }
  std::vector<std::size_t> places = {0};
  std::ptrdiff_t live = 0;
  for (std::size_t p = 1; p < graph.nodes.size(); ++p) {
    live += change[p];
    if (live <= static_cast<std::ptrdiff_t>(max_crossing)) places.push_back(p);
  }
  places.push_back(graph.nodes.size());
  return places;
}

CandidatePool propose(const Graph& graph, const Uses& uses, std::span<const Proposer> proposers,
                      const ProposeOptions& options) {
  PoolBuilder pool(graph, uses);
  const std::vector<std::size_t> places = narrow_places(graph, uses, options.max_crossing_values);
  for (const Proposer& proposer : proposers) {
    std::vector<bool> supported(graph.nodes.size(), false);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      NodeSet single(graph.nodes.size());
      single.insert(n);
      supported[n] = pool.ask(proposer, single);
    }
    ChainMatcher matcher(graph, uses, options, proposer, pool);
    for (const Pattern& pattern : proposer.rules.patterns) matcher.match(pattern);
    if (proposer.rules.growth == Growth::kLikeNative) grow_like_native(graph, uses, proposer, pool);
    if (proposer.rules.growth == Growth::kAny) {
      propose_maximal(graph, proposer, supported, pool);
      propose_ranges(graph, proposer, places, options, pool);
    }
  }
  return pool.take();
}

std::string to_text(const Graph& graph, const CandidatePool& pool) {
  std::string text;
  for (const Candidate& candidate : pool.candidates) {
    text += fmt::format("{}/{}:", candidate.backend, candidate.variant.name);
    for (std::size_t n : pool.regions[candidate.region].nodes.members()) text += " " + graph.nodes[n].name;
    const auto list = [&text](std::string_view arrow, const std::vector<Format>& formats) {
      text += arrow;
      for (std::size_t i = 0; i < formats.size(); ++i) text += (i ? "," : "") + formats[i].name;
    };
    list(" | ", candidate.variant.input_formats);
    list(" -> ", candidate.variant.output_formats);
    text += "\n";
  }
  return text;
}

}  // namespace collage
