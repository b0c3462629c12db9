// The makers of rules and the ready-made styles of growth.
#include "region/rules/partition_rule.h"

#include <algorithm>

namespace collage {

PartitionRule::PartitionRule(RuleForm form) : form_(std::make_shared<const RuleForm>(std::move(form))) {}

bool PartitionRule::operator==(const PartitionRule& other) const {
  return form_ == other.form_ || *form_ == *other.form_;
}

PartitionRule singles() { return PartitionRule({SinglesForm{}}); }
PartitionRule operators_up_to(FusionClass most) { return PartitionRule({ClassForm{most}}); }
PartitionRule operators_named(std::vector<std::string> operators) {
  return PartitionRule({OperatorForm{std::move(operators)}});
}

PartitionRule nodes_where(std::string name, std::function<bool(const Graph&, const Node&)> accepts) {
  return PartitionRule({PredicateForm{std::move(name), std::move(accepts)}});
}

PartitionRule taken_nodes() { return nodes_where("taken", nullptr); }

PartitionRule pattern_rule(std::string label, std::string_view text, std::size_t max_outputs) {
  auto pattern = parse_pattern(text, "pattern " + label);
  COLLAGE_CHECK(pattern.has_value(), to_string(pattern.error()));
  return pattern_rule(std::move(label), *std::move(pattern), max_outputs);
}

PartitionRule pattern_rule(std::string label, PatternForm pattern, std::size_t max_outputs) {
  return PartitionRule({PatternRuleForm{std::move(label), std::move(pattern), max_outputs}});
}

PartitionRule nodes_named(std::string label, std::vector<std::string> globs) {
  return PartitionRule({NamedForm{std::move(label), std::move(globs)}});
}

PartitionRule maximal_regions(std::size_t max_splits) { return PartitionRule({MaximalForm{max_splits}}); }
PartitionRule block_ranges(std::size_t max_crossing, std::size_t max_ranges) {
  return PartitionRule({RangesForm{max_crossing, max_ranges}});
}
PartitionRule any_of(std::vector<PartitionRule> rules) { return PartitionRule({UnionForm{std::move(rules)}}); }

PartitionRule combine(PartitionRule base, std::vector<GrowRule> grow, std::size_t max_depth) {
  return PartitionRule({CombineForm{.base = std::move(base), .grow = std::move(grow), .max_depth = max_depth}});
}

PartitionRule only_valid(PartitionRule base, RegionLimits limits) {
  return PartitionRule({ValidForm{std::move(base), limits}});
}
PartitionRule follow(PartitionRule base, std::size_t max_nodes) {
  return PartitionRule({FollowForm{std::move(base), max_nodes}});
}
PartitionRule labelled(std::string label, PartitionRule base) {
  return PartitionRule({LabelForm{std::move(label), std::move(base)}});
}

PartitionRule with_repeats(PartitionRule base, std::vector<std::string> operators, std::size_t max_nodes) {
  return PartitionRule({RepeatForm{std::move(base), std::move(operators), max_nodes}});
}

PartitionRule grown_like_native(PartitionRule base, std::size_t max_depth) {
  using enum FusionClass;
  PartitionRule with_work = combine(base, {GrowByClass{.from = kAnchor, .to = kBroadcast}}, max_depth);
  // Deeper makers multiply: three alternatives for each of eight operands are 6,561 regions.
  constexpr std::size_t kConcatDepth = 3;
  return any_of(
      {std::move(with_work), combine(std::move(base), {GrowOperands{kInjective}}, std::min(max_depth, kConcatDepth))});
}

}  // namespace collage
