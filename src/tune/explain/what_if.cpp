#include "tune/explain/what_if.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "region/instance_name.h"
#include "search/search.h"

namespace collage {
namespace {

/// Types do not matter to a search in which memory does not count.
ValueType any_type() { return ValueType::tensor(ElementType::kFloat32, {1}); }

Place place_named(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {.location = kHome, .format = Format{text}};
  return {.location = text.substr(0, slash), .format = Format{text.substr(slash + 1)}};
}

std::vector<Format> formats_of(const std::vector<std::string>& names, std::size_t ports) {
  std::vector<Format> formats(ports);
  for (std::size_t i = 0; i < std::min(ports, names.size()); ++i) formats[i].name = names[i];
  return formats;
}

/// Whether it computes the node for everybody; a node that it recomputes for itself is another's.
bool runs(const Explanation& explanation, const ExplainedCandidate& candidate, const std::string& node) {
  return std::ranges::any_of(candidate.nodes, [&](std::uint32_t n) {
    return explanation.nodes[n].name == node && !std::ranges::binary_search(candidate.repeated, n);
  });
}

/// The placement problem of an explanation.
class StoredProblem {
 public:
  explicit StoredProblem(const Explanation& explanation) : explanation_(explanation) {
    for (const std::string& name : explanation.problem.values) ids_.push_back(add_value(graph_, name, any_type()));
    graph_.inputs = values_at(explanation.problem.inputs);
    graph_.outputs = values_at(explanation.problem.outputs);
    for (const ExplainedNode& explained : explanation.nodes) {
      Node node;
      node.name = explained.name;
      node.inputs = values_at(explained.inputs);
      node.outputs = values_at(explained.outputs);
      add_node(graph_, std::move(node));
    }
    uses_ = uses_of(graph_);
    for (const ExplainedCandidate& candidate : explanation.candidates)
      regions_.push_back(candidate.repeated.empty()
                             ? make_region(graph_, uses_, set_of(candidate.nodes))
                             : make_region(graph_, uses_, set_of(candidate.nodes), set_of(candidate.repeated)));
    for (const ExplainedConversion& one : explanation.problem.conversions)
      for (const std::uint32_t value : one.values)
        conversions_[{ids_[value].index, place_named(one.from), place_named(one.to)}] = {
            .backend = one.backend, .cost = Estimated{.ns = one.ns}};
  }

  const Graph& graph() const { return graph_; }

  Result<SearchResult> best_under(const std::vector<WhatIfRule>& rules) const {
    std::vector<SearchCandidate> usable;
    for (std::size_t c = 0; c < regions_.size(); ++c)
      if (explanation_.candidates[c].cost_ns && keeps_to(explanation_.candidates[c], rules))
        usable.push_back(candidate(c));
    const BoundaryTable boundaries = [this](ValueId value, const Place& from, const Place& to) {
      const auto found = conversions_.find({value.index, from, to});
      return found == conversions_.end() ? std::nullopt : std::optional(found->second);
    };
    return choose_cover(graph_, uses_, usable, boundaries, {.launch_ns = explanation_.problem.launch_ns});
  }

 private:
  std::vector<ValueId> values_at(const std::vector<std::uint32_t>& positions) const {
    std::vector<ValueId> values;
    for (const std::uint32_t p : positions) values.push_back(ids_[p]);
    return values;
  }

  NodeSet set_of(const std::vector<std::uint32_t>& nodes) const {
    return node_set(graph_, {nodes.begin(), nodes.end()});
  }

  bool keeps_to(const ExplainedCandidate& candidate, const std::vector<WhatIfRule>& rules) const {
    return std::ranges::all_of(rules, [&](const WhatIfRule& rule) {
      return !runs(explanation_, candidate, rule.node) || (is_instance_of(candidate.backend, rule.backend) &&
                                                           (rule.variant.empty() || rule.variant == candidate.variant));
    });
  }

  SearchCandidate candidate(std::size_t c) const {
    const ExplainedCandidate& explained = explanation_.candidates[c];
    const Region& region = regions_[c];
    const Nanoseconds ns = *explained.cost_ns;
    return {.region = &region,
            .backend = explained.backend,
            .variant = {.name = explained.variant,
                        .input_formats = formats_of(explained.input_formats, region.inputs.size()),
                        .output_formats = formats_of(explained.output_formats, region.outputs.size())},
            .cost = Estimated{.ns = ns},
            .location = explained.location};
  }

  const Explanation& explanation_;
  Graph graph_;
  Uses uses_;
  std::vector<ValueId> ids_;     ///< by position in the explanation
  std::vector<Region> regions_;  ///< by candidate
  std::map<std::tuple<std::uint32_t, Place, Place>, BoundaryChoice> conversions_;
};

/// The step in words that tell it from all others of a cover.
WhatIfStep told(const Graph& graph, const CoverStep& step) {
  WhatIfStep told{.backend = step.backend, .variant = {}, .nodes = {}, .moved = {}};
  told.ns = nanoseconds_of(step.cost).value_or(0);
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
  std::vector<WhatIfStep> rest;
  for (const WhatIfStep& step : steps) {
    const bool is_there = std::ranges::any_of(others, [&](const WhatIfStep& other) {
      return std::tie(step.backend, step.variant, step.nodes, step.moved) ==
             std::tie(other.backend, other.variant, other.nodes, other.moved);
    });
    if (!is_there) rest.push_back(step);
  }
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
  if (explanation.problem.values.empty())
    return fail(ExitCode::kBadInput, "plan/no-problem", "the plan", "no costs of candidates to choose from",
                "a plan that this version tuned with more than one backend");
  const StoredProblem problem(explanation);
  COLLAGE_TRY(const SearchResult best, problem.best_under({}));
  COLLAGE_TRY(const SearchResult under, problem.best_under(rules));
  const std::vector<WhatIfStep> before = told(problem.graph(), best.cover);
  const std::vector<WhatIfStep> after = told(problem.graph(), under.cover);
  return WhatIf{.rules = rules,
                .best_ns = best.cover.cost_ns,
                .under_ns = under.cover.cost_ns,
                .exact = best.exact && under.exact,
                .gone = without(before, after),
                .added = without(after, before)};
}

}  // namespace collage
