#include "tune/node_rules.h"

#include <fnmatch.h>

#include <algorithm>

namespace collage {
namespace {

const char* option_of(NodeRule::Kind kind) { return kind == NodeRule::Kind::kBan ? "--ban" : "--pin"; }

bool names(const NodeRule& rule, std::string_view instance) {
  return instance == rule.backend || instance.substr(0, instance.find(':')) == rule.backend;
}

}  // namespace

Result<NodeRule> parse_node_rule(NodeRule::Kind kind, const std::string& text) {
  std::size_t split = text.rfind('=');
  // An instance such as engine:opt=basic holds '=' too; a ':' without '=' before it belongs to a node's name.
  const std::size_t colon = text.rfind(':', split);
  if (colon != std::string::npos)
    if (const std::size_t before = text.rfind('=', colon); before != std::string::npos) split = before;
  if (split == std::string::npos || split == 0 || split + 1 == text.size())
    return fail(ExitCode::kUsage, "tune/bad-rule", option_of(kind), text, "GLOB=NAME with a backend's name");
  return NodeRule{.kind = kind, .glob = text.substr(0, split), .backend = text.substr(split + 1)};
}

bool names_node(const NodeRule& rule, const Node& node) {
  return ::fnmatch(rule.glob.c_str(), node.name.c_str(), 0) == 0;
}

Result<void> check_rules(const Graph& graph, std::span<const NodeRule> rules) {
  for (const NodeRule& rule : rules)
    if (std::ranges::none_of(graph.nodes, [&](const Node& node) { return names_node(rule, node); }))
      return fail(ExitCode::kUsage, "tune/bad-rule", option_of(rule.kind), rule.glob,
                  "a glob that matches a node; check MODEL --dump simplified lists them");
  return {};
}

bool is_allowed(const Graph& graph, const NodeSet& nodes, std::string_view backend, std::span<const NodeRule> rules) {
  return std::ranges::none_of(rules, [&](const NodeRule& rule) {
    if ((rule.kind == NodeRule::Kind::kBan) != names(rule, backend)) return false;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      if (nodes.contains(n) && names_node(rule, graph.nodes[n])) return true;
    return false;
  });
}

void apply_rules(const Graph& graph, std::span<const NodeRule> rules, CandidatePool& pool) {
  std::erase_if(pool.candidates, [&](const Candidate& candidate) {
    return !is_allowed(graph, pool.regions[candidate.region].nodes, candidate.backend, rules);
  });
}

}  // namespace collage
