#include "tune/node_rules.h"

#include <algorithm>

#include "base/suggest.h"
#include "region/cover.h"
#include "region/instance_name.h"

namespace collage {
namespace {

const char* option_of(NodeRule::Kind kind) { return kind == NodeRule::Kind::kBan ? "--ban" : "--pin"; }

bool names(const NodeRule& rule, std::string_view instance) {
  if (!rule.on_device.empty()) return std::ranges::find(rule.on_device, instance) != rule.on_device.end();
  return is_instance_of(instance, rule.backend);
}

/// The rule names the node or one inside its bodies.
bool reaches(const NodeRule& rule, const Node& node) {
  return names_node(rule, node) || std::ranges::any_of(bodies_of(node), [&](const Graph* body) {
           return std::ranges::any_of(body->nodes, [&](const Node& inside) { return reaches(rule, inside); });
         });
}

/// Of all nodes, those inside bodies too.
void add_names(const Graph& graph, std::vector<std::string>& names) {
  for (const Node& node : graph.nodes) {
    names.push_back(node.name);
    for (const Graph* body : bodies_of(node)) add_names(*body, names);
  }
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

Result<std::vector<NodeRule>> parse_pins(const std::string& text) {
  std::vector<NodeRule> pins;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(";\n", begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    begin = end + 1;
    if (one.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::size_t first = one.find_first_not_of(" \t\r");
    const std::size_t last = one.find_last_not_of(" \t\r");
    auto pin = parse_node_rule(NodeRule::Kind::kPin, one.substr(first, last - first + 1));
    if (!pin) return fail(ExitCode::kBadInput, "tune/bad-rule", kPinMetadata, one, "GLOB=NAME with a backend's name");
    pins.push_back(*std::move(pin));
  }
  return pins;
}

std::vector<std::string> backends_on(const std::string& device, Registry& registry,
                                     std::span<const std::string> among) {
  std::vector<std::string> found;
  for (const std::string& name : among)
    if (const auto backend = registry.get(name);
        backend && std::ranges::find((*backend)->info().devices, device) != (*backend)->info().devices.end())
      found.push_back(name);
  return found;
}

Result<void> resolve_devices(Registry& registry, std::span<const std::string> instances, std::vector<NodeRule>& rules) {
  for (NodeRule& rule : rules) {
    const auto backend = registry.get(rule.backend);
    if (backend || rule.backend == kControlBackend) continue;
    rule.on_device = backends_on(rule.backend, registry, instances);
    if (rule.on_device.empty()) return std::unexpected(backend.error());
  }
  return {};
}

bool names_node(const NodeRule& rule, const Node& node) { return matches_glob(node.name, {rule.glob}); }

Result<void> check_rules(const Graph& graph, std::span<const NodeRule> rules) {
  for (const NodeRule& rule : rules) {
    if (std::ranges::any_of(graph.nodes, [&](const Node& node) { return reaches(rule, node); })) continue;
    std::vector<std::string> names;
    add_names(graph, names);
    return fail(ExitCode::kUsage, "tune/bad-rule", option_of(rule.kind),
                "no node called " + rule.glob + did_you_mean(rule.glob, names),
                "a glob that matches a node; check MODEL --dump simplified lists them");
  }
  return {};
}

bool is_allowed(const Graph& graph, const NodeSet& nodes, std::string_view backend, std::span<const NodeRule> rules) {
  // Who takes an operator takes its bodies, unless these have steps of their own.
  const bool takes_bodies = backend != kControlBackend;
  return std::ranges::none_of(rules, [&](const NodeRule& rule) {
    if ((rule.kind == NodeRule::Kind::kBan) != names(rule, backend)) return false;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      if (nodes.contains(n) && (takes_bodies ? reaches(rule, graph.nodes[n]) : names_node(rule, graph.nodes[n])))
        return true;
    return false;
  });
}

void apply_rules(const Graph& graph, std::span<const NodeRule> rules, CandidatePool& pool) {
  std::erase_if(pool.candidates, [&](const Candidate& candidate) {
    return !is_allowed(graph, pool.regions[candidate.region].nodes, candidate.backend, rules);
  });
}

}  // namespace collage
