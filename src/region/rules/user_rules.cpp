#include "region/rules/user_rules.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "region/instance_name.h"

namespace collage {
namespace {

using Kind = UserRule::Kind;

std::unexpected<Error> bad(const UserRule& rule, std::string saw, std::string allowed) {
  return fail(ExitCode::kUsage, "region/bad-rule", rule.where, std::move(saw), std::move(allowed));
}

bool speaks_of(const UserRule& rule, std::string_view instance) {
  return rule.backend == "*" || is_instance_of(instance, rule.backend);
}

NodeSet named_nodes(const Graph& graph, const UserRule& rule) {
  NodeSet nodes(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (matches_glob(graph.nodes[n].name, rule.globs)) nodes.insert(n);
  return nodes;
}

bool is_banned(const UserRule& rule, const Node& node) {
  return std::ranges::find(rule.operators, qualified_name(node)) != rule.operators.end();
}

std::size_t stricter(std::size_t a, std::size_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

RegionLimits stricter(const RegionLimits& a, const RegionLimits& b) {
  return {.max_outputs = stricter(a.max_outputs, b.max_outputs),
          .max_depth = stricter(a.max_depth, b.max_depth),
          .max_nodes = stricter(a.max_nodes, b.max_nodes),
          .allow_bodies = a.allow_bodies && b.allow_bodies,
          .allow_taps = a.allow_taps && b.allow_taps};
}

void add_to(PartitionRules& rules, PartitionRule more) {
  if (rules.own)
    rules.own = any_of({*rules.own, std::move(more)});
  else
    rules.more.push_back(std::move(more));
}

void add_ban(const Graph& graph, const UserRule& rule, Proposer& proposer) {
  proposer.support = [&graph, rule, support = std::move(proposer.support)](
                         const Region& region) -> std::expected<std::vector<Variant>, Refusal> {
    for (const std::size_t n : region.nodes.members())
      if (is_banned(rule, graph.nodes[n]))
        return std::unexpected(Refusal{.reason = RefusalReason::kOperator,
                                       .detail = qualified_name(graph.nodes[n]) + " by " + rule.where});
    return support(region);
  };
}

void add_to(const Graph& graph, const UserRule& rule, Proposer& proposer) {
  PartitionRules& rules = proposer.rules;
  switch (rule.kind) {
    case Kind::kPattern:
    case Kind::kFuse:
    case Kind::kRule:
      return add_to(rules, regions_of(rule));
    case Kind::kReplace:
      return;
    case Kind::kLimit:
      rules.limits = rules.limits ? stricter(*rules.limits, rule.limits) : rule.limits;
      return;
    case Kind::kBan:
      return add_ban(graph, rule, proposer);
  }
}

/// Puts the regions of the replacing rules in place of the backend's own, whatever the order of the lines.
void replace_rules(const UserRules& rules, Proposer& proposer) {
  std::vector<PartitionRule> instead;
  for (const UserRule& rule : rules)
    if (rule.kind == Kind::kReplace && speaks_of(rule, proposer.backend)) instead.push_back(*rule.regions);
  if (!instead.empty()) proposer.rules.own = any_of(std::move(instead));
}

/// A name without a wildcard that a node nearly has.
std::string nearest_node(const Graph& graph, const UserRule& rule) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return rule.globs.size() == 1 ? did_you_mean(rule.globs.front(), names) : "";
}

/// Nodes to fuse exist, could run as one step, and belong to one rule only.
Result<void> check_forced(const Graph& graph, const Uses& uses, const UserRules& rules) {
  NodeSet taken(graph.nodes.size());
  for (const UserRule& rule : rules) {
    if (rule.kind != Kind::kFuse) continue;
    const NodeSet nodes = named_nodes(graph, rule);
    const std::string globs = fmt::format("{}", fmt::join(rule.globs, " "));
    if (nodes.empty())
      return bad(rule, "no node with a name like " + globs + nearest_node(graph, rule),
                 "names of nodes of the simplified graph");
    if (nodes.intersects(taken))
      return bad(rule, "node " + graph.nodes[(nodes & taken).next()].name + " a second time", "each node fused once");
    taken |= nodes;
    if (!Reachability(graph, uses).is_convex(nodes))
      return bad(rule, "nodes with a path between them that leaves and comes back",
                 "nodes that can run as one step: add those on the path");
  }
  return {};
}

/// Who could not run the region, for the message.
std::string refusals_of(const CandidatePool& pool, const UserRule& rule, const NodeSet& nodes) {
  std::string text;
  for (const RegionRefusal& refusal : pool.refusals)
    if (pool.regions[refusal.region].nodes == nodes && speaks_of(rule, refusal.backend))
      text += fmt::format("{}{}: {} ({})", text.empty() ? "" : "; ", refusal.backend, name_of(refusal.refusal.reason),
                          refusal.refusal.detail);
  return text.empty() ? "a region whose border has values of unknown shape" : text;
}

bool is_allowed_by(const UserRule& rule, const NodeSet& forced, const NodeSet& nodes, std::string_view backend) {
  return !nodes.intersects(forced) || (nodes == forced && speaks_of(rule, backend));
}

}  // namespace

Result<void> check_user_rules(const Graph& graph, const Uses& uses, const UserRules& rules,
                              std::span<const std::string> backends) {
  std::vector<std::string> known(backends.begin(), backends.end());
  for (const std::string& backend : backends) known.emplace_back(kind_of_instance(backend));
  for (const UserRule& rule : rules)
    if (std::ranges::none_of(backends, [&](const std::string& backend) { return speaks_of(rule, backend); }))
      return bad(rule, "backend " + rule.backend + did_you_mean(rule.backend, known),
                 fmt::format("*, {}", fmt::join(backends, ", ")));
  return check_forced(graph, uses, rules);
}

PartitionRule regions_of(const UserRule& rule) {
  switch (rule.kind) {
    case Kind::kPattern:
      return pattern_rule(rule.label, rule.pattern, rule.max_outputs);
    case Kind::kFuse:
      return nodes_named(rule.label, rule.globs);
    default:
      COLLAGE_CHECK(rule.regions.has_value(), "a rule that names no regions");
      return *rule.regions;
  }
}

bool concerns(const UserRules& rules, std::string_view instance) {
  return std::ranges::any_of(rules, [&](const UserRule& rule) { return speaks_of(rule, instance); });
}

void add_user_rules(const Graph& graph, const UserRules& rules, std::vector<Proposer>& proposers) {
  for (Proposer& proposer : proposers) replace_rules(rules, proposer);
  for (const UserRule& rule : rules)
    for (Proposer& proposer : proposers)
      if (speaks_of(rule, proposer.backend)) add_to(graph, rule, proposer);
}

Result<void> keep_forced_regions(const Graph& graph, const UserRules& rules, CandidatePool& pool) {
  for (const UserRule& rule : rules) {
    if (rule.kind != Kind::kFuse) continue;
    const NodeSet forced = named_nodes(graph, rule);
    std::erase_if(pool.candidates, [&](const Candidate& candidate) {
      const Region& region = pool.regions[candidate.region];
      return region.repeated.universe() != 0 ? region.nodes.intersects(forced)
                                             : !is_allowed_by(rule, forced, region.nodes, candidate.backend);
    });
    const bool is_run = std::ranges::any_of(
        pool.candidates, [&](const Candidate& candidate) { return pool.regions[candidate.region].nodes == forced; });
    if (!is_run) return bad(rule, refusals_of(pool, rule, forced), "nodes that the backend can run as one step");
  }
  return {};
}

bool allows(const Graph& graph, const Uses& uses, const UserRules& rules, const NodeSet& nodes,
            std::string_view backend) {
  return std::ranges::all_of(rules, [&](const UserRule& rule) {
    if (rule.kind == Kind::kFuse) return is_allowed_by(rule, named_nodes(graph, rule), nodes, backend);
    if (!speaks_of(rule, backend)) return true;
    if (rule.kind == Kind::kLimit)
      return check_region(graph, uses, Reachability(graph, uses), make_region(graph, uses, nodes), rule.limits)
          .has_value();
    const std::vector<std::size_t> members = nodes.members();
    return std::ranges::none_of(members, [&](std::size_t n) { return is_banned(rule, graph.nodes[n]); });
  });
}

}  // namespace collage
