#include "tune/explain/what_if.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "region/instance_name.h"
#include "tune/explain/stored_problem.h"

namespace collage {
namespace {

/// Whether it computes the node for everybody; a node that it recomputes for itself is another's.
bool runs(const Explanation& explanation, const ExplainedCandidate& candidate, const std::string& node) {
  return std::ranges::any_of(candidate.nodes, [&](std::uint32_t n) {
    return explanation.nodes[n].name == node && !std::ranges::binary_search(candidate.repeated, n);
  });
}

bool keeps_to(const Explanation& explanation, const ExplainedCandidate& candidate,
              const std::vector<WhatIfRule>& rules) {
  return std::ranges::all_of(rules, [&](const WhatIfRule& rule) {
    return !runs(explanation, candidate, rule.node) || (is_instance_of(candidate.backend, rule.backend) &&
                                                        (rule.variant.empty() || rule.variant == candidate.variant));
  });
}

/// The step in words that tell it from all others of a cover.
WhatIfStep told(const Graph& graph, const CoverStep& step) {
  WhatIfStep told{.backend = step.backend, .variant = {}, .nodes = {}, .moved = {}};
  told.ns = nanoseconds_of(step.cost).value_or(0);
  told.estimated = std::holds_alternative<Estimated>(step.cost);
  if (const Region* const region = chosen_region(step)) {
    told.variant = chosen_variant(step)->name;
    for (const std::size_t n : region->nodes.members()) told.nodes.push_back(graph.nodes[n].name);
    return told;
  }
  const auto moved = [&](ValueId value, const std::string& from, const std::string& to) {
    told.moved = fmt::format("{}: {} to {}", graph.value(value).name, from, to);
  };
  if (const auto* const one = std::get_if<CoverConversion>(&step.work))
    moved(one->value, one->from.name, one->to.name);
  else if (const auto* const renamed = std::get_if<CoverRename>(&step.work))
    moved(renamed->value, renamed->from.name, renamed->to.name);
  else if (const auto* const transfer = std::get_if<CoverTransfer>(&step.work))
    moved(transfer->value, transfer->from, transfer->to);
  return told;
}

std::vector<WhatIfStep> told(const Graph& graph, const Cover& cover) {
  std::vector<WhatIfStep> steps;
  for (const CoverStep& step : cover.steps) steps.push_back(told(graph, step));
  return steps;
}

/// Those of `steps` that `others` does not have.
std::vector<WhatIfStep> without(const std::vector<WhatIfStep>& steps, const std::vector<WhatIfStep>& others) {
  const auto key = [](const WhatIfStep& step) { return std::tie(step.backend, step.variant, step.nodes, step.moved); };
  std::set<std::tuple<std::string, std::string, std::vector<std::string>, std::string>> there;
  for (const WhatIfStep& step : others) there.insert(key(step));
  std::vector<WhatIfStep> rest;
  for (const WhatIfStep& step : steps)
    if (!there.contains(key(step))) rest.push_back(step);
  return rest;
}

/// "backend/variant" of those that may run the node, each once.
std::vector<std::string> offers_for(const Explanation& explanation, const std::string& node) {
  std::vector<std::string> offers;
  for (const ExplainedCandidate& candidate : explanation.candidates)
    if (candidate.cost_ns && runs(explanation, candidate, node))
      offers.push_back(candidate.backend + "/" + candidate.variant);
  std::ranges::sort(offers);
  const auto rest = std::ranges::unique(offers);
  offers.erase(rest.begin(), rest.end());
  return offers;
}

Result<WhatIfRule> checked(const Explanation& explanation, WhatIfRule rule) {
  const std::vector<std::string> offers = offers_for(explanation, rule.node);
  const bool is_offered = std::ranges::any_of(offers, [&](const std::string& offer) {
    const std::size_t slash = offer.find('/');
    return is_instance_of(offer.substr(0, slash), rule.backend) &&
           (rule.variant.empty() || rule.variant == offer.substr(slash + 1));
  });
  if (is_offered) return rule;
  const std::string wanted = rule.backend + (rule.variant.empty() ? "" : "/" + rule.variant);
  return fail(ExitCode::kUsage, "plan/no-such-offer", "--what-if", "no cost of " + wanted + " for node " + rule.node,
              fmt::format("one of {} (`explain PLAN --why-not` says why others are missing)", fmt::join(offers, ", ")));
}

}  // namespace

Result<WhatIfRule> parse_what_if(const Explanation& explanation, const std::string& text) {
  if (text.find('=') == std::string::npos || text.back() == '=' || text.front() == '=')
    return fail(ExitCode::kUsage, "cli/bad-option", "--what-if", text, "NODE=BACKEND or NODE=BACKEND/VARIANT");
  for (std::size_t split = text.rfind('='); split != std::string::npos && split > 0;
       split = text.rfind('=', split - 1)) {
    const std::string node = text.substr(0, split);
    if (find_node(explanation, node) == nullptr) continue;
    const std::string who = text.substr(split + 1);
    const std::size_t slash = std::min(who.find('/'), who.size());
    return checked(
        explanation,
        {.node = node, .backend = who.substr(0, slash), .variant = who.substr(std::min(slash + 1, who.size()))});
  }
  std::vector<std::string> names;
  for (const ExplainedNode& node : explanation.nodes) names.push_back(node.name);
  const std::string node = text.substr(0, text.find('='));
  return fail(ExitCode::kUsage, "plan/no-such-node", "--what-if", "node " + node + did_you_mean(node, names),
              "a node of the plan outside of bodies; `explain PLAN --json -` lists all");
}

Result<WhatIf> what_if(const Explanation& explanation, const std::vector<WhatIfRule>& rules) {
  COLLAGE_TRY(const StoredProblem problem, StoredProblem::of(explanation));
  COLLAGE_TRY(const SearchResult best, problem.best([](const ExplainedCandidate&) { return true; }));
  const auto under = problem.best([&](const ExplainedCandidate& one) { return keeps_to(explanation, one, rules); });
  if (!under)
    return fail(ExitCode::kUnsupported, "plan/no-cover", "--what-if",
                "no cover of the plan's candidates under these rules",
                "rules that do not contradict each other, for nodes whose neighbours have measured costs, too");
  const std::vector<WhatIfStep> before = told(problem.graph(), best.cover);
  const std::vector<WhatIfStep> after = told(problem.graph(), under->cover);
  return WhatIf{.rules = rules,
                .best_ns = best.cover.cost_ns,
                .under_ns = under->cover.cost_ns,
                .exact = best.exact && under->exact,
                .gone = without(before, after),
                .added = without(after, before)};
}

}  // namespace collage
