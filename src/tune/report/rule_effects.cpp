#include "tune/report/rule_effects.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/suggest.h"
#include "region/instance_name.h"

namespace collage {
namespace {

/// Nodes that a rule names, those inside bodies too.
std::size_t named_nodes(const NodeRule& rule, const Graph& graph) {
  std::size_t count = 0;
  for (const Node& node : graph.nodes) {
    if (names_node(rule, node)) ++count;
    for (const Graph* body : bodies_of(node)) count += named_nodes(rule, *body);
  }
  return count;
}

bool speaks_of(const UserRule& rule, std::string_view backend) {
  return rule.backend == "*" || is_instance_of(backend, rule.backend);
}

/// The sets of nodes that a rule names.
std::set<std::vector<std::size_t>> regions_meant(const Graph& graph, const UserRule& rule) {
  const Uses uses = uses_of(graph);
  const Reachability reach(graph, uses);
  std::set<std::vector<std::size_t>> regions;
  for (const Proposal& proposal : enumerate(regions_of(rule), {.graph = graph, .uses = uses, .reach = reach}))
    regions.insert(proposal.nodes.members());
  return regions;
}

RuleEffect effect_of_regions(const Graph& graph, const UserRule& rule, const CandidatePool& pool) {
  const auto regions = regions_meant(graph, rule);
  RuleEffect effect{.matches = "regions", .matched = regions.size()};
  for (const Candidate& candidate : pool.candidates)
    if (speaks_of(rule, candidate.backend) && regions.contains(pool.regions[candidate.region].nodes.members()))
      ++effect.added;
  return effect;
}

/// Regions of the rule's backend that were refused in these words.
std::size_t refused_by(const UserRule& rule, const CandidatePool& pool, std::string_view words) {
  return static_cast<std::size_t>(std::ranges::count_if(pool.refusals, [&](const RegionRefusal& refusal) {
    return speaks_of(rule, refusal.backend) && refusal.refusal.detail.find(words) != std::string::npos;
  }));
}

RuleEffect effect_of_ban(const Graph& graph, const UserRule& rule, const CandidatePool& pool) {
  RuleEffect effect{.matches = "nodes", .removed = refused_by(rule, pool, " by " + rule.where)};
  std::vector<std::string> operators;
  for (const Node& node : graph.nodes) {
    operators.push_back(qualified_name(node));
    if (std::ranges::find(rule.operators, operators.back()) != rule.operators.end()) ++effect.matched;
  }
  if (effect.matched == 0)
    for (const std::string& banned : rule.operators) effect.hint += did_you_mean(banned, operators);
  return effect;
}

RuleEffect effect_of(const Graph& graph, const UserRule& rule, const CandidatePool& pool) {
  switch (rule.kind) {
    case UserRule::Kind::kPattern:
    case UserRule::Kind::kFuse:
    case UserRule::Kind::kRule:
    case UserRule::Kind::kReplace:
      return effect_of_regions(graph, rule, pool);
    case UserRule::Kind::kBan:
      return effect_of_ban(graph, rule, pool);
    case UserRule::Kind::kLimit:
      break;
  }
  const std::size_t over = refused_by(rule, pool, "limits: ");
  return {.matches = "regions", .matched = over, .removed = over};
}

std::string text_of(const NodeRule& rule) {
  return fmt::format("{} {}={}", rule.kind == NodeRule::Kind::kPin ? "--pin" : "--ban", rule.glob, rule.backend);
}

}  // namespace

std::vector<RuleEffect> effects_of(const Graph& graph, std::span<const NodeRule> rules, const CandidatePool& pool) {
  std::vector<RuleEffect> effects;
  for (const NodeRule& rule : rules) {
    RuleEffect effect{.rule = text_of(rule), .matches = "nodes", .matched = named_nodes(rule, graph)};
    for (const Candidate& candidate : pool.candidates)
      if (!is_allowed(graph, pool.regions[candidate.region].nodes, candidate.backend, {&rule, 1})) ++effect.removed;
    effects.push_back(std::move(effect));
  }
  return effects;
}

std::vector<RuleEffect> effects_of(const Graph& graph, const UserRules& rules, const CandidatePool& pool) {
  std::vector<RuleEffect> effects;
  for (const UserRule& rule : rules) {
    effects.push_back(effect_of(graph, rule, pool));
    effects.back().rule = rule.where + " " + rule.text;
  }
  return effects;
}

void count_rule_steps(const Graph& graph, const UserRules& rules, const Cover& cover, std::span<RuleEffect> effects) {
  for (std::size_t r = 0; r < rules.size(); ++r) {
    if (rules[r].kind != UserRule::Kind::kPattern && rules[r].kind != UserRule::Kind::kFuse) continue;
    const auto regions = regions_meant(graph, rules[r]);
    effects[r].steps = static_cast<std::size_t>(std::ranges::count_if(cover.steps, [&](const CoverStep& step) {
      const Region* const region = chosen_region(step);
      return region != nullptr && speaks_of(rules[r], step.backend) && regions.contains(region->nodes.members());
    }));
  }
}

namespace {

/// ": bodies: shape: ..." by those who refused the node alone.
std::string refused_alone(const CandidatePool& pool, std::size_t node) {
  std::string text;
  for (const RegionRefusal& one : pool.refusals) {
    const NodeSet& nodes = pool.regions[one.region].nodes;
    if (nodes.count() == 1 && nodes.contains(node))
      text += fmt::format("{}{}: {}: {}", text.empty() ? ": " : "; ", one.backend, name_of(one.refusal.reason),
                          one.refusal.detail);
  }
  return text;
}

}  // namespace

std::string nobody_left(const Graph& graph, std::span<const NodeRule> rules, const CandidatePool& before,
                        const CandidatePool& after) {
  const std::vector<std::size_t> bare = nodes_without_candidate(graph, before);
  for (const std::size_t n : nodes_without_candidate(graph, after)) {
    if (std::ranges::find(bare, n) != bare.end()) continue;
    std::string named;
    for (const NodeRule& rule : rules)
      if (names_node(rule, graph.nodes[n])) named += (named.empty() ? "" : " and ") + text_of(rule);
    return fmt::format("{} leave nobody for {} ({}){}", named.empty() ? "--pin and --ban" : named, graph.nodes[n].name,
                       graph.nodes[n].op_type, refused_alone(after, n));
  }
  return {};
}

}  // namespace collage
