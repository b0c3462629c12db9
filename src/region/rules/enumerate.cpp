// What each form of rule proposes. The closure is in combine.cpp, runs and ranges in long_regions.cpp.
#include <algorithm>

#include "region/rules/enumerate.h"
#include "region/rules/pattern_match.h"

namespace collage {
namespace {

using Proposals = std::vector<Proposal>;

/// As enumerate(), with duplicates: they are dropped once, at the end.
Proposals all_proposals(const PartitionRule& rule, const RuleContext& context);

/// A small constant belongs to its reader, so that equal regions have equal keys (structure_key).
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

/// The matches that at most `max_outputs` values leave; 0 = any number.
Proposals matches_of(const PatternRuleForm& form, const RuleContext& context, std::size_t max_outputs) {
  Proposals proposals;
  for (NodeSet& nodes : match_pattern(context.graph, context.uses, form.pattern, {.max_outputs = max_outputs})) {
    if (!context.reach.is_convex(nodes)) continue;
    std::vector<Match> matches;
    if (!form.label.empty()) matches.push_back({.label = form.label, .nodes = nodes});
    proposals.push_back({.nodes = std::move(nodes), .matches = std::move(matches), .origin = "pattern " + form.label});
  }
  return proposals;
}

Proposals proposals_of(const PatternRuleForm& form, const RuleContext& context) {
  return matches_of(form, context, form.max_outputs);
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

/// Bytes of a value; nothing when an extent is open.
std::optional<std::size_t> bytes_of(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_static()) return std::nullopt;
  return byte_count(type.element, type.extents());
}

/// Whether the node reads no more bytes than it makes, so that computing it again reads no more than its value would
/// take to read: a dequantiser, a move of elements, element-wise work on one operand. Constants do not count.
bool reads_no_more(const Graph& graph, const Node& node) {
  const auto made = bytes_of(graph, node.outputs[0]);
  std::size_t read = 0;
  for (const ValueId input : node.inputs) {
    if (!input.valid() || graph.value(input).constant) continue;
    const auto bytes = bytes_of(graph, input);
    if (!bytes) return false;
    read += *bytes;
  }
  return made && read <= *made;
}

/// The node may be computed for a region of its own while others get its value from another step.
bool may_repeat(const RepeatForm& form, const Graph& graph, const Node& node) {
  if (!can_be_repeated(node) || !reads_no_more(graph, node)) return false;
  return form.operators.empty() || std::ranges::find(form.operators, qualified_name(node)) != form.operators.end();
}

/// `match` with the cheap nodes repeated whose values others read too, if one value leaves it then.
void add_kept_inside(const RepeatForm& form, const RuleContext& context, Proposal match, Proposals& proposals) {
  const Region region = make_region(context.graph, context.uses, match.nodes);
  NodeSet repeated(context.graph.nodes.size());
  for (const ValueId output : region.outputs) {
    const NodeId maker = context.uses.producer[output.index];
    const auto& readers = context.uses.consumers[output.index];
    const bool is_read_inside =
        std::ranges::any_of(readers, [&](NodeId reader) { return match.nodes.contains(reader.index); });
    if (is_read_inside && may_repeat(form, context.graph, context.graph.node(maker))) repeated.insert(maker.index);
  }
  if (repeated.empty() || region.outputs.size() - repeated.count() != 1) return;
  match.repeated = std::move(repeated);
  match.origin = "repeat " + match.origin;
  proposals.push_back(std::move(match));
}

/// The matches of the rule's patterns that too many values leave as long as nothing is repeated.
void add_tapped_matches(const RepeatForm& form, const PartitionRule& rule, const RuleContext& context,
                        Proposals& proposals) {
  if (const auto* parts = std::get_if<UnionForm>(&rule.form().is))
    for (const PartitionRule& part : parts->rules) add_tapped_matches(form, part, context, proposals);
  if (const auto* pattern = std::get_if<PatternRuleForm>(&rule.form().is))
    for (Proposal& match : matches_of(*pattern, context, 0))
      add_kept_inside(form, context, std::move(match), proposals);
}

/// A proposal with the producer of one of its inputs, where others read that too, repeated.
void add_with_producers(const RepeatForm& form, const RuleContext& context, const Proposal& proposal,
                        Proposals& proposals) {
  const NodeSet& nodes = proposal.nodes;
  if (!takes(context, nodes)) return;
  for (const ValueId input : make_region(context.graph, context.uses, nodes).inputs) {
    const NodeId maker = context.uses.producer[input.index];
    const bool is_shared = context.uses.is_output[input.index] || is_read_outside(context.uses, input, nodes);
    if (!maker.valid() || !is_shared || !may_repeat(form, context.graph, context.graph.node(maker))) continue;
    Proposal more = proposal;
    more.repeated = node_set(context.graph, {maker.index});
    more.nodes |= more.repeated;
    more.origin = "repeat " + proposal.origin;
    proposals.push_back(std::move(more));
  }
}

Proposals proposals_of(const RepeatForm& form, const RuleContext& context) {
  Proposals proposals = all_proposals(form.base, context);
  const std::size_t seeds = proposals.size();
  for (std::size_t seed = 0; seed < seeds; ++seed)
    if (proposals[seed].nodes.count() <= form.max_nodes && proposals[seed].repeated.universe() == 0)
      add_with_producers(form, context, Proposal(proposals[seed]), proposals);
  add_tapped_matches(form, form.base, context, proposals);
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
