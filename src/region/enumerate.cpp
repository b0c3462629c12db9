// What each form of rule proposes. The closure is in combine.cpp, runs and ranges in long_regions.cpp.
#include <algorithm>

#include "region/enumerate.h"
#include "region/pattern_match.h"

namespace collage {
namespace {

using Proposals = std::vector<Proposal>;

/// As enumerate(), with duplicates: they are dropped once, at the end.
Proposals all_proposals(const PartitionRule& rule, const RuleContext& context);

/// Small constants belong to whoever reads them; so equal regions have equal keys (structure_key).
template <class Accepts>
Proposals singles_where(const RuleContext& context, std::string_view origin, Accepts&& accepts) {
  Proposals proposals;
  for (std::size_t n = 0; n < context.graph.nodes.size(); ++n)
    if (accepts(n)) proposals.push_back({.nodes = node_set(context.graph, {n}), .origin = std::string(origin)});
  return proposals;
}

Proposals proposals_of(const SinglesForm&, const RuleContext& context) {
  return singles_where(context, "single", [](std::size_t) { return true; });
}

Proposals proposals_of(const ClassForm& form, const RuleContext& context) {
  return singles_where(context, "class",
                       [&](std::size_t n) { return fusion_class_of(context.graph.nodes[n]) <= form.most; });
}

Proposals proposals_of(const OperatorForm& form, const RuleContext& context) {
  return singles_where(context, "operator", [&](std::size_t n) {
    return std::ranges::find(form.operators, qualified_name(context.graph.nodes[n])) != form.operators.end();
  });
}

Proposals proposals_of(const PredicateForm& form, const RuleContext& context) {
  return singles_where(context, form.name, [&](std::size_t n) {
    return form.accepts ? form.accepts(context.graph, context.graph.nodes[n])
                        : takes(context, node_set(context.graph, {n}));
  });
}

Proposals proposals_of(const PatternRuleForm& form, const RuleContext& context) {
  Proposals proposals;
  for (NodeSet& nodes : match_pattern(context.graph, context.uses, form.pattern, {.max_outputs = form.max_outputs})) {
    if (!context.reach.is_convex(nodes)) continue;
    std::vector<Match> matches;
    if (!form.label.empty()) matches.push_back({.label = form.label, .nodes = nodes});
    proposals.push_back({.nodes = std::move(nodes), .matches = std::move(matches), .origin = "pattern " + form.label});
  }
  return proposals;
}

Proposals proposals_of(const NamedForm& form, const RuleContext& context) {
  NodeSet nodes(context.graph.nodes.size());
  for (std::size_t n = 0; n < context.graph.nodes.size(); ++n)
    if (matches_glob(context.graph.nodes[n].name, form.globs)) nodes.insert(n);
  if (nodes.empty()) return {};
  Proposals proposals;
  proposals.push_back({.nodes = nodes, .matches = {{form.label, nodes}}, .origin = "named " + form.label});
  return proposals;
}

Proposals proposals_of(const MaximalForm& form, const RuleContext& context) { return maximal(form, context); }
Proposals proposals_of(const RangesForm& form, const RuleContext& context) { return ranges(form, context); }

Proposals proposals_of(const UnionForm& form, const RuleContext& context) {
  Proposals proposals;
  for (const PartitionRule& rule : form.rules) {
    Proposals more = all_proposals(rule, context);
    std::move(more.begin(), more.end(), std::back_inserter(proposals));
  }
  return proposals;
}

Proposals proposals_of(const CombineForm& form, const RuleContext& context) {
  return closure(form, all_proposals(form.base, context), context);
}

Proposals proposals_of(const ValidForm& form, const RuleContext& context) {
  Proposals proposals = all_proposals(form.base, context);
  std::erase_if(proposals, [&](const Proposal& proposal) {
    const Region region = make_region(context.graph, context.uses, proposal.nodes, proposal.repeated);
    return !check_region(context.graph, context.uses, context.reach, region, form.limits, proposal.matches);
  });
  return proposals;
}

Proposals proposals_of(const FollowForm& form, const RuleContext& context) {
  Proposals proposals = all_proposals(form.base, context);
  const std::size_t seeds = proposals.size();
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    NodeSet nodes = proposals[seed].nodes;
    for (std::size_t size = nodes.count(); size < form.max_nodes; ++size) {
      const Region region = make_region(context.graph, context.uses, nodes);
      if (region.outputs.size() != 1) break;
      const auto& readers = context.uses.consumers[region.outputs[0].index];
      if (readers.size() != 1 || nodes.contains(readers[0].index)) break;
      nodes.insert(readers[0].index);
      if (!takes(context, nodes)) break;
      proposals.push_back({.nodes = nodes, .origin = "follow " + proposals[seed].origin});
    }
  }
  return proposals;
}

Proposals proposals_of(const LabelForm& form, const RuleContext& context) {
  Proposals proposals = all_proposals(form.base, context);
  for (Proposal& proposal : proposals)
    if (proposal.matches.empty()) proposal.matches.push_back({.label = form.label, .nodes = proposal.nodes});
  return proposals;
}

/// The maker of an input that is cheap to compute for this region alone while others read it too.
bool may_repeat(const RepeatForm& form, const RuleContext& context, const NodeSet& nodes, ValueId input) {
  const NodeId maker = context.uses.producer[input.index];
  if (!maker.valid()) return false;
  const Node& node = context.graph.node(maker);
  if (!can_be_repeated(node)) return false;
  if (!form.operators.empty() && std::ranges::find(form.operators, qualified_name(node)) == form.operators.end())
    return false;
  return context.uses.is_output[input.index] || is_read_outside(context.uses, input, nodes);
}

Proposals proposals_of(const RepeatForm& form, const RuleContext& context) {
  Proposals proposals = all_proposals(form.base, context);
  const std::size_t seeds = proposals.size();
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    const NodeSet nodes = proposals[seed].nodes;
    if (nodes.count() > form.max_nodes || proposals[seed].repeated.universe() != 0 || !takes(context, nodes)) continue;
    for (const ValueId input : make_region(context.graph, context.uses, nodes).inputs) {
      if (!may_repeat(form, context, nodes, input)) continue;
      Proposal more = proposals[seed];
      more.repeated = node_set(context.graph, {context.uses.producer[input.index].index});
      more.nodes |= more.repeated;
      more.origin = "repeat " + proposals[seed].origin;
      proposals.push_back(std::move(more));
    }
  }
  return proposals;
}

Proposals all_proposals(const PartitionRule& rule, const RuleContext& context) {
  return std::visit([&](const auto& form) { return proposals_of(form, context); }, rule.form().is);
}

}  // namespace

bool takes(const RuleContext& context, const NodeSet& nodes) { return !context.takes || context.takes(nodes); }

std::vector<Proposal> enumerate(const PartitionRule& rule, const RuleContext& context) {
  return without_duplicates(all_proposals(rule, context));
}

}  // namespace collage
