#include "numbers/choice.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace collage {
namespace {

using Doubles = std::vector<double>;
using Indices = std::vector<std::int64_t>;

bool keeps_order(const Node& node) {
  static const std::set<std::string_view> kKeepers = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten"};
  return node.domain.empty() && kKeepers.contains(node.op_type);
}

std::optional<ChoiceRule> rule_of(const Graph& graph, const Node& node, ValueId made) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "NonMaxSuppression")
    return ChoiceRule{.data = input_of(node, 1), .axis = 0, .kind = ChoiceKind::kBoxes};
  const bool is_arg = node.op_type == "ArgMax" || node.op_type == "ArgMin";
  const bool is_top = node.op_type == "TopK" && node.outputs.size() == 2 && node.outputs[1] == made;
  if (!is_arg && !is_top) return std::nullopt;
  const ValueId data = input_of(node, 0);
  if (!data.valid() || !graph.value(data).type.is_static()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(graph.value(data).type.extents().size());
  auto axis = attribute_or<std::int64_t>(node, "axis", is_arg ? 0 : -1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return ChoiceRule{.data = data, .axis = axis};
}

std::optional<Doubles> numbers_of(const Tensor& tensor) {
  if (auto floats = floats_of(tensor)) return floats;
  const auto integers = integers_of(tensor);
  if (!integers) return std::nullopt;
  return Doubles(integers->begin(), integers->end());
}

bool alike(double a, double b, const Tolerance& tolerance, double largest) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= tolerance.share * largest + tolerance.relative * std::abs(b) + tolerance.floor;
}

Comparison failure(std::size_t at, std::int64_t seen, std::int64_t expected) {
  Comparison result;
  result.first_failing = static_cast<std::int64_t>(at);
  result.seen = static_cast<double>(seen);
  result.expected = static_cast<double>(expected);
  return result;
}

Comparison right() {
  Comparison result;
  result.ok = true;
  return result;
}

std::size_t product(const Extents& extents, std::size_t begin, std::size_t end) {
  std::size_t result = 1;
  for (std::size_t i = begin; i < end; ++i) result *= static_cast<std::size_t>(extents[i]);
  return result;
}

Comparison along_axis(const Indices& seen, const Indices& expected, const Choice& choice, const Doubles& data,
                      const Tolerance& tolerance, double largest) {
  const auto axis = static_cast<std::size_t>(choice.axis);
  const Extents& extents = choice.data.extents;
  const std::size_t outer = product(extents, 0, axis);
  const std::size_t inner = product(extents, axis + 1, extents.size());
  const auto length = static_cast<std::size_t>(extents[axis]);
  const std::size_t lines = outer * inner;
  const std::size_t chosen = lines == 0 ? 0 : seen.size() / lines;
  if (chosen * lines != seen.size()) return failure(0, 0, 0);
  for (std::size_t line = 0; line < lines; ++line) {
    std::set<std::int64_t> taken;
    for (std::size_t k = 0; k < chosen; ++k) {
      const std::size_t at = (line / inner * chosen + k) * inner + line % inner;
      const auto value = [&](std::int64_t index) {
        return data[(line / inner * length + static_cast<std::size_t>(index)) * inner + line % inner];
      };
      const auto legal = [&](std::int64_t index) { return index >= 0 && static_cast<std::size_t>(index) < length; };
      if (!legal(seen[at]) || !legal(expected[at]) || !taken.insert(seen[at]).second ||
          !alike(value(seen[at]), value(expected[at]), tolerance, largest))
        return failure(at, seen[at], expected[at]);
    }
  }
  return right();
}

Comparison boxes(const Indices& seen, const Indices& expected, const Choice& choice, const Doubles& scores,
                 const Tolerance& tolerance, double largest) {
  const Extents& extents = choice.data.extents;
  if (extents.size() != 3 || seen.size() % 3 != 0) return failure(0, 0, 0);
  std::set<Indices> taken;
  for (std::size_t row = 0; row < seen.size(); row += 3) {
    const auto score = [&](const Indices& rows) {
      return scores[static_cast<std::size_t>((rows[row] * extents[1] + rows[row + 1]) * extents[2] + rows[row + 2])];
    };
    for (const std::size_t at : {row, row + 1})
      if (seen[at] != expected[at] || seen[at] < 0 || seen[at] >= extents[at - row])
        return failure(at, seen[at], expected[at]);
    const auto is_box = [&](std::int64_t box) { return box >= 0 && box < extents[2]; };
    const bool legal = is_box(seen[row + 2]) && is_box(expected[row + 2]);
    const bool fresh = taken.insert({seen[row], seen[row + 1], seen[row + 2]}).second;
    if (!legal || !fresh || !alike(score(seen), score(expected), tolerance, largest))
      return failure(row + 2, seen[row + 2], expected[row + 2]);
  }
  return right();
}

}  // namespace

std::optional<ChoiceRule> choice_behind(const Graph& graph, const Uses& uses, const Region& region, ValueId value) {
  if (!is_integer(graph.value(value).type.element)) return std::nullopt;
  for (NodeId producer = uses.producer[value.index]; producer.valid(); producer = uses.producer[value.index]) {
    if (!region.nodes.contains(producer.index)) return std::nullopt;
    const Node& node = graph.node(producer);
    if (auto rule = rule_of(graph, node, value)) return rule;
    if (!keeps_order(node) || node.inputs.empty() || !node.inputs[0].valid()) return std::nullopt;
    value = node.inputs[0];
  }
  return std::nullopt;
}

Comparison compare_choice(const Tensor& seen, const Tensor& expected, const Choice& choice, Accuracy accuracy,
                          bool model_is_16bit) {
  Comparison exact = compare(seen, expected, accuracy, model_is_16bit);
  if (exact.ok || !exact.mismatch.empty()) return exact;
  const auto a = integers_of(seen);
  const auto b = integers_of(expected);
  const auto data = numbers_of(choice.data);
  if (!a || !b || !data) return exact;
  const Tolerance tolerance = tolerance_of(accuracy, model_is_16bit);
  double largest = 0;
  for (const double value : *data)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return choice.kind == ChoiceKind::kBoxes ? boxes(*a, *b, choice, *data, tolerance, largest)
                                           : along_axis(*a, *b, choice, *data, tolerance, largest);
}

}  // namespace collage
