#include "region/rules.h"

namespace collage {

PartitionRule rule_of(const PartitionRules& rules, const RuleOptions& options) {
  std::vector<PartitionRule> parts = {singles()};
  for (const Pattern& pattern : rules.patterns)
    parts.push_back(pattern_rule(pattern.label, pattern.text, pattern.max_outputs));
  if (rules.growth == Growth::kLikeNative) parts.push_back(follow(singles(), rules.max_region_nodes));
  if (rules.growth == Growth::kAny) {
    parts.push_back(maximal_regions(rules.max_splits));
    parts.push_back(block_ranges(options.max_crossing, options.max_ranges));
  }
  parts.insert(parts.end(), rules.more.begin(), rules.more.end());
  PartitionRule rule = rules.own ? *rules.own : any_of(std::move(parts));
  if (rules.repeats == RepeatStyle::kNone) return rule;
  return with_repeats(std::move(rule),
                      rules.repeats == RepeatStyle::kListed ? rules.repeated : std::vector<std::string>{});
}

Result<void> check_patterns(const PartitionRules& rules) {
  for (const Pattern& pattern : rules.patterns) {
    const auto parsed = parse_pattern(pattern.text, "pattern " + pattern.label);
    if (!parsed) return std::unexpected(parsed.error());
  }
  return {};
}

}  // namespace collage
