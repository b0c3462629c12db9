// What conditions say about one node.
#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "region/fusion_class.h"
#include "region/pattern_match.h"

namespace collage {
namespace {

/// What a subject is at a node: its text, and its number where it is one.
struct Fact {
  std::string text;
  std::optional<double> number;
};

Fact fact_of(std::int64_t number) { return {.text = std::to_string(number), .number = static_cast<double>(number)}; }

std::optional<Fact> attribute_fact(const Node& node, const std::string& name) {
  if (const auto* number = find_attribute<std::int64_t>(node, name)) return fact_of(*number);
  if (const auto* number = find_attribute<float>(node, name))
    return Fact{.text = fmt::format("{}", *number), .number = static_cast<double>(*number)};
  if (const auto* text = find_attribute<std::string>(node, name)) return Fact{.text = *text, .number = {}};
  if (const auto* list = find_attribute<std::vector<std::int64_t>>(node, name))
    return Fact{.text = fmt::format("{}", fmt::join(*list, "x")),
                .number = list->size() == 1 ? std::optional<double>(static_cast<double>(list->front())) : std::nullopt};
  return std::nullopt;
}

std::optional<Fact> value_fact(const PatternSubject& subject, const ValueType& type) {
  if (subject.kind == PatternSubject::Kind::kType)
    return Fact{.text = std::string(name_of(type.element)), .number = {}};
  if (!type.shape) return std::nullopt;
  if (subject.kind == PatternSubject::Kind::kRank) return fact_of(static_cast<std::int64_t>(type.shape->size()));
  if (subject.kind == PatternSubject::Kind::kSize)
    return type.is_static() ? std::optional(fact_of(element_count(type.extents()))) : std::nullopt;
  if (subject.axis >= type.shape->size()) return std::nullopt;
  const Dim& dim = (*type.shape)[subject.axis];
  return dim.is_static() ? std::optional(fact_of(dim.extent)) : std::nullopt;
}

std::optional<Fact> fact(const PatternSubject& subject, const Graph& graph, const Node& node) {
  if (subject.kind == PatternSubject::Kind::kAttribute) return attribute_fact(node, subject.attribute);
  const std::vector<ValueId>& ports = subject.is_input ? node.inputs : node.outputs;
  if (subject.port >= ports.size() || !ports[subject.port].valid()) return std::nullopt;
  return value_fact(subject, graph.value(ports[subject.port]).type);
}

bool are_equal(const Fact& a, const Fact& b) {
  return a.number && b.number ? *a.number == *b.number : a.text == b.text;
}

/// Order exists between numbers only.
bool compares(const Fact& left, PatternComparison comparison, const Fact& right) {
  switch (comparison) {
    case PatternComparison::kEqual:
    case PatternComparison::kEqualOrAbsent:
      return are_equal(left, right);
    case PatternComparison::kNot:
      return !are_equal(left, right);
    case PatternComparison::kAtMost:
      return left.number && right.number && *left.number <= *right.number;
    case PatternComparison::kAtLeast:
      return left.number && right.number && *left.number >= *right.number;
    case PatternComparison::kLess:
      return left.number && right.number && *left.number < *right.number;
    case PatternComparison::kMore:
      return left.number && right.number && *left.number > *right.number;
  }
  return false;
}

bool holds(const PatternCondition& condition, const Graph& graph, const Node& node) {
  const auto left = fact(condition.subject, graph, node);
  const bool is_not = condition.comparison == PatternComparison::kNot;
  if (!left) return is_not || condition.comparison == PatternComparison::kEqualOrAbsent;
  if (condition.other) {
    const auto right = fact(*condition.other, graph, node);
    return right ? compares(*left, condition.comparison, *right) : is_not;
  }
  const auto agrees = [&](const std::string& literal) {
    return compares(*left, condition.comparison, {.text = literal, .number = number_in<double>(literal)});
  };
  return is_not ? std::ranges::all_of(condition.literals, agrees) : std::ranges::any_of(condition.literals, agrees);
}

}  // namespace

bool names_operator(const PatternStep& step, const Node& node) {
  return std::ranges::any_of(step.operators, [&](const std::string& name) {
    return node.domain.empty() ? name == node.op_type : name == qualified_name(node);
  });
}

bool accepts(const PatternStep& step, const Graph& graph, const Node& node) {
  return names_operator(step, node) &&
         std::ranges::all_of(step.conditions, [&](const PatternCondition& one) { return holds(one, graph, node); });
}

}  // namespace collage
