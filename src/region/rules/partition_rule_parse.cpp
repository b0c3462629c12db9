// Parses the text that to_text() prints, one function for each form. The text is split at separators outside brackets:
//   combine(class<=anchor; anchor->broadcast; depth<=8)
//   name     part           part               part
#include <algorithm>

#include <fmt/format.h>

#include "region/rules/partition_rule.h"
#include "region/rules/rule_text.h"

namespace collage {
namespace {

using Parsed = Result<PartitionRule>;
using Parts = std::vector<std::string_view>;

std::unexpected<Error> bad(const std::string& where, std::string_view saw, std::string allowed) {
  return fail(ExitCode::kUsage, "region/bad-rule", where, std::string(saw), std::move(allowed));
}

/// Forms within forms are read by recursion; rules written by hand have a dozen.
constexpr std::ptrdiff_t kMostBrackets = 200;

/// A rule inside of another one, or the whole.
Parsed rule_in(std::string_view text, const std::string& where);

/// A count at the end of the parts, which it leaves; nothing when the last part is no such count.
std::optional<std::size_t> take_count(Parts& parts, std::string_view name) {
  const auto count = parts.size() > 1 ? count_after(parts.back(), name) : std::nullopt;
  if (count) parts.pop_back();
  return count;
}

Result<FusionClass> parse_class(std::string_view text, const std::string& where) {
  if (const auto known = fusion_class_named(text)) return *known;
  return bad(where, text, "elementwise, broadcast, injective, reduce, anchor or opaque");
}

Result<GrowRule> parse_grow(std::string_view text, const std::string& where) {
  constexpr std::string_view kOperands = "operands<=";
  if (text == "parallel") return GrowRule(GrowParallel{});
  if (text.starts_with(kOperands)) {
    COLLAGE_TRY(const FusionClass most, parse_class(text.substr(kOperands.size()), where));
    return GrowRule(GrowOperands{most});
  }
  const std::size_t arrow = text.find("->");
  if (arrow == std::string_view::npos) return bad(where, text, "CLASS->CLASS, operands<=CLASS or parallel");
  COLLAGE_TRY(const FusionClass from, parse_class(trimmed(text.substr(0, arrow)), where));
  COLLAGE_TRY(const FusionClass to, parse_class(trimmed(text.substr(arrow + 2)), where));
  return GrowRule(GrowByClass{.from = from, .to = to});
}

Parsed parse_operators(Parts parts, const std::string& where) {
  std::vector<std::string> operators;
  for (const std::string_view name : parts_of(parts[0], '|')) {
    if (name.empty() || parts.size() > 1) return bad(where, parts.back(), "operators with | between them");
    operators.emplace_back(name);
  }
  return operators_named(std::move(operators));
}

Parsed parse_pattern_rule(Parts parts, const std::string& where) {
  const auto outputs = take_count(parts, "outputs");
  const std::size_t colon = parts[0].find(':');
  const std::size_t bracket = std::min(parts[0].find_first_of("({"), parts[0].size());
  if (parts.size() > 1 || colon == std::string_view::npos || colon > bracket)
    return bad(where, parts.back(), "pattern(LABEL: PATTERN) or pattern(LABEL: PATTERN; outputs<=N)");
  COLLAGE_TRY(PatternForm pattern, parse_pattern(trimmed(parts[0].substr(colon + 1)), where));
  return pattern_rule(std::string(trimmed(parts[0].substr(0, colon))), std::move(pattern), outputs.value_or(1));
}

Parsed parse_named(Parts parts, const std::string& where) {
  const std::size_t colon = parts[0].find(": ");
  if (parts.size() > 1 || colon == std::string_view::npos) return bad(where, parts.back(), "named(LABEL: GLOB GLOB)");
  return nodes_named(std::string(trimmed(parts[0].substr(0, colon))), words_of(parts[0].substr(colon + 2)));
}

Parsed parse_maximal(Parts parts, const std::string& where) {
  const auto splits = count_after(parts[0], "splits");
  if (parts.size() > 1 || !splits) return bad(where, parts.back(), "maximal or maximal(splits<=N)");
  return maximal_regions(*splits);
}

Parsed parse_union(Parts parts, const std::string& where) {
  std::vector<PartitionRule> rules;
  if (parts.size() > 1) return bad(where, parts.back(), "union(RULE, RULE)");
  for (const std::string_view part : parts_of(parts[0], ',')) {
    COLLAGE_TRY(PartitionRule rule, rule_in(part, where));
    rules.push_back(std::move(rule));
  }
  return any_of(std::move(rules));
}

Parsed parse_combine(Parts parts, const std::string& where) {
  const auto depth = take_count(parts, "depth");
  if (parts.size() != 2) return bad(where, parts.back(), "combine(RULE; GROW, GROW; depth<=N)");
  COLLAGE_TRY(PartitionRule base, rule_in(parts[0], where));
  std::vector<GrowRule> grow;
  for (const std::string_view part : parts_of(parts[1], ',')) {
    COLLAGE_TRY(GrowRule one, parse_grow(part, where));
    grow.push_back(one);
  }
  return combine(std::move(base), std::move(grow), depth.value_or(0));
}

Parsed parse_valid(Parts parts, const std::string& where) {
  if (parts.size() != 2) return bad(where, parts.back(), "valid(LIMIT, LIMIT; RULE)");
  const auto limits = parse_limits(parts[0]);
  if (!limits) return bad(where, limits.error(), kLimitNames);
  COLLAGE_TRY(PartitionRule base, rule_in(parts[1], where));
  return only_valid(std::move(base), *limits);
}

Parsed parse_follow(Parts parts, const std::string& where) {
  const auto nodes = take_count(parts, "nodes");
  if (parts.size() != 1 || !nodes) return bad(where, parts.back(), "follow(RULE; nodes<=N)");
  COLLAGE_TRY(PartitionRule base, rule_in(parts[0], where));
  return follow(std::move(base), *nodes);
}

Parsed parse_label(Parts parts, const std::string& where) {
  if (parts.size() != 2 || parts[0].empty()) return bad(where, parts.back(), "label(LABEL; RULE)");
  COLLAGE_TRY(PartitionRule base, rule_in(parts[1], where));
  return labelled(std::string(parts[0]), std::move(base));
}

struct FormName {
  std::string_view name;
  Parsed (*parse)(Parts parts, const std::string& where);
};
constexpr FormName kForms[] = {
    {"operators", parse_operators}, {"pattern", parse_pattern_rule}, {"named", parse_named},
    {"maximal", parse_maximal},     {"union", parse_union},          {"combine", parse_combine},
    {"valid", parse_valid},         {"follow", parse_follow},        {"label", parse_label}};
constexpr const char* kFormNames =
    "singles, taken, class<=CLASS, operators(...), pattern(...), named(...), maximal, union(...), combine(...), "
    "valid(...), follow(...) or label(...)";

Parsed rule_in(std::string_view text, const std::string& where) {
  constexpr std::string_view kClass = "class<=";
  text = trimmed(text);
  if (std::ranges::count(text, '(') > kMostBrackets) return bad(where, text.substr(0, 40), "at most 200 brackets");
  if (text == "singles") return singles();
  if (text == "taken") return taken_nodes();
  if (text == "maximal") return maximal_regions();
  if (text.starts_with(kClass)) {
    COLLAGE_TRY(const FusionClass most, parse_class(text.substr(kClass.size()), where));
    return operators_up_to(most);
  }
  const std::size_t open = text.find('(');
  if (open != std::string_view::npos && text.ends_with(')'))
    for (const FormName& form : kForms)
      if (trimmed(text.substr(0, open)) == form.name)
        return form.parse(parts_of(text.substr(open + 1, text.size() - open - 2), ';'), where);
  return bad(where, text, kFormNames);
}

}  // namespace

Result<PartitionRule> parse_rule(std::string_view text, const std::string& where) {
  COLLAGE_TRY(PartitionRule rule, rule_in(text, where));
  // Brackets and quotes in labels and globs can hide what divides them.
  const auto again = rule_in(to_text(rule), where);
  if (!again || *again != rule) return bad(where, text.substr(0, 200), "labels and globs without quotes or brackets");
  return rule;
}

}  // namespace collage
