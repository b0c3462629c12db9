#include "region/operand_checks.h"

#include <algorithm>
#include <set>

#include "ir/intervals.h"

namespace collage {
namespace {

bool lies_in(const OperandRange& inner, const OperandRange& outer) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

/// Every element comes out in order, and with its number where that keeps the condition.
bool keeps_elements(const Graph& graph, const Node& node, const OperandCondition& condition) {
  static const std::set<std::string, std::less<>> kNames = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  if (!node.domain.empty()) return false;
  if (kNames.contains(node.op_type)) return true;
  const ElementType from = graph.value(node.inputs[0]).type.element;
  if (node.op_type != "Cast" || !is_integer(from)) return false;
  const OperandRange held = range_of(graph.value(node.outputs[0]).type.element);
  if (lies_in(range_of(from), held)) return true;
  return condition.rule == OperandRule::kRange &&
         std::ranges::all_of(condition.ranges, [&](const OperandRange& range) { return lies_in(range, held); });
}

/// Of a step that a plan runs, not of the insides of one of its nodes.
class Entry {
 public:
  Entry(const Graph& graph, const Region& region) : graph_(graph), region_(region), nodes_(region.nodes.members()) {}

  [[nodiscard]] bool has(ValueId id) const {
    return std::ranges::find(region_.inputs, id) != region_.inputs.end() || constant_of(graph_, id) != nullptr;
  }

  /// The value that enters the region and has the elements that the condition asks about; invalid when there is none.
  [[nodiscard]] ValueId behind(const OperandCondition& condition) const {
    ValueId id = condition.value;
    while (!has(id)) {
      const Node* const node = producer(id);
      if (node == nullptr || !keeps_elements(graph_, *node, condition)) return {};
      id = node->inputs[0];
    }
    return id;
  }

 private:
  [[nodiscard]] const Node* producer(ValueId id) const {
    for (const std::size_t n : nodes_)
      if (std::ranges::find(graph_.nodes[n].outputs, id) != graph_.nodes[n].outputs.end()) return &graph_.nodes[n];
    return nullptr;
  }

  const Graph& graph_;
  const Region& region_;
  std::vector<std::size_t> nodes_;
};

/// The condition on the value that enters the region; without a value when that cannot be checked.
OperandCondition at_entry(const OpenCondition& open, const Entry& entry) {
  OperandCondition condition = open.condition;
  if (!condition.value.valid()) return {};
  if (condition.rule == OperandRule::kNoOverflow) {
    // Which elements meet depends on the shapes they have at the division.
    if (!entry.has(condition.value) || !entry.has(condition.dividend)) condition.value = {};
    return condition;
  }
  if (condition.rule == OperandRule::kRange && condition.ranges.empty()) return {};
  condition.value = entry.behind(condition);
  return condition;
}

}  // namespace

OperandChecks operand_checks(const Graph& graph, std::span<const OpenCondition> open, const Region& region) {
  OperandChecks checks;
  if (region.nodes.empty()) return checks;
  std::vector<const OpenCondition*> own;
  for (const OpenCondition& one : open)
    if (region.nodes.contains(one.node)) own.push_back(&one);
  if (own.empty()) return checks;
  const Entry entry(graph, region);
  for (const OpenCondition* const one : own) {
    OperandCondition condition = at_entry(*one, entry);
    if (condition.value.valid())
      checks.at_entry.push_back({std::move(condition), one->asker});
    else
      checks.inside.push_back(one);
  }
  return checks;
}

std::string why_inside(const Graph& graph, const OpenCondition& open) {
  const std::string who = open.asker->op_type + " '" + open.asker->name + "'";
  const std::string operand =
      open.condition.value.valid() ? "operand '" + graph.value(open.condition.value).name + "'" : "an operand";
  if (!open.condition.value.valid()) return who + " in a body has " + operand + " that nobody checks there";
  if (open.condition.rule == OperandRule::kRange && open.condition.ranges.empty())
    return who + " has " + operand + " whose range depends on an unknown extent, and the library does not check it";
  return who + " has " + operand + " computed inside, and the library does not check it";
}

}  // namespace collage
