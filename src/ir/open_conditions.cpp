// Which conditions of a graph's operators hold whatever its inputs hold, and which a constant breaks.
#include <algorithm>
#include <optional>

#include "ir/intervals.h"
#include "ir/operand_conditions.h"

namespace collage {
namespace {

bool lies_in(const OperandRange& inner, const OperandRange& outer) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

/// Every element of a constant in its own range.
bool holds(const Tensor& constant, const std::vector<OperandRange>& ranges) {
  const auto numbers = integers_of(constant);
  for (std::size_t i = 0; numbers && i < numbers->size(); ++i)
    if (!ranges[i % ranges.size()].contains((*numbers)[i])) return false;
  return numbers.has_value();
}

bool is_least_over_minus_one_possible(const OperandCondition& condition, const Graph& graph, Intervals& intervals) {
  const OperandRange all = range_of(graph.value(condition.value).type.element);
  return intervals.of(condition.value).contains(-1) && intervals.of(condition.dividend).contains(all.low);
}

bool holds_always(const Graph& graph, const OperandCondition& condition, Intervals& intervals) {
  if (condition.rule == OperandRule::kNoOverflow) return !is_least_over_minus_one_possible(condition, graph, intervals);
  const OperandRange all = intervals.of(condition.value);
  if (condition.rule == OperandRule::kNonZero) {
    const Tensor* constant = constant_of(graph, condition.value);
    const auto numbers = constant != nullptr ? integers_of(*constant) : std::nullopt;
    return numbers ? std::ranges::find(*numbers, 0) == numbers->end() : !all.contains(0);
  }
  // Any axis has a first and a last element, however long it is.
  if (condition.ranges.empty()) return lies_in(all, {-1, 0});
  if (const Tensor* constant = constant_of(graph, condition.value)) return holds(*constant, condition.ranges);
  return std::ranges::all_of(condition.ranges, [&](const OperandRange& range) { return lies_in(all, range); });
}

/// Broken by a constant: whatever runs, this fails.
bool is_broken(const Graph& graph, const OperandCondition& condition) {
  const Tensor* constant = constant_of(graph, condition.value);
  if (constant == nullptr || constant->size() == 0) return false;
  if (condition.rule == OperandRule::kNonZero) {
    const auto numbers = integers_of(*constant);
    return numbers && std::ranges::find(*numbers, 0) != numbers->end();
  }
  return condition.rule == OperandRule::kRange && !condition.ranges.empty() && !holds(*constant, condition.ranges);
}

std::string what_breaks(const Tensor& constant, const OperandCondition& condition) {
  if (condition.rule == OperandRule::kNonZero) return "a constant divisor 0";
  const auto numbers = integers_of(constant);
  for (std::size_t i = 0; numbers && i < numbers->size(); ++i)
    if (!condition.ranges[i % condition.ranges.size()].contains((*numbers)[i]))
      return "constant " + std::to_string((*numbers)[i]);
  return "a constant beyond 64 bits";
}

std::string allowed_by(const OperandCondition& condition) {
  if (condition.rule == OperandRule::kNonZero) return "anything else";
  std::string text;
  for (const OperandRange& range : condition.ranges) text += (text.empty() ? "" : ", ") + to_string(range);
  return text;
}

/// Inside a body: what it captures is what it is outside, and a Loop's first input counts its iterations.
Intervals intervals_in(const Graph& body, const Graph& graph, const Node& node, Intervals& around) {
  Intervals inside(body);
  for (const ValueId capture : body.captures)
    for (const ValueId outer : node.captures)
      if (graph.value(outer).name == body.value(capture).name) inside.assume(capture, around.of(outer));
  if (is_op(node, "Loop") && !body.inputs.empty() && input_of(node, 0).valid())
    inside.assume(body.inputs[0], {0, std::max<std::int64_t>(around.of(node.inputs[0]).high, 1) - 1});
  return inside;
}

std::vector<OpenCondition> open_in(const Graph& graph, Intervals& intervals) {
  std::vector<OpenCondition> open;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (OperandCondition& condition : operand_conditions(graph, node))
      if (!holds_always(graph, condition, intervals)) open.push_back({n, &node, std::move(condition)});
    for (const Graph* body : bodies_of(node)) {
      Intervals inside = intervals_in(*body, graph, node, intervals);
      for (OpenCondition& inner : open_in(*body, inside)) {
        inner.condition.value = inner.condition.dividend = {};
        inner.node = n;
        open.push_back(std::move(inner));
      }
    }
  }
  return open;
}

}  // namespace

std::vector<OpenCondition> open_conditions(const Graph& graph) {
  Intervals intervals(graph);
  return open_in(graph, intervals);
}

Result<void> check_constant_operands(const Graph& graph) {
  for (const Node& node : graph.nodes)
    for (const OperandCondition& condition : operand_conditions(graph, node))
      if (is_broken(graph, condition)) {
        const Value& value = graph.value(condition.value);
        return fail(ExitCode::kBadInput, "import/bad-operand",
                    node.op_type + " " + node.name + ", operand " + value.name, what_breaks(*value.constant, condition),
                    allowed_by(condition));
      }
  return {};
}

}  // namespace collage
