#include "numbers/quantisers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace collage {
namespace {

/// Operators whose integer outputs are rounded real numbers.
bool rounds(const Node& node) {
  static const std::set<std::string_view> kQuantisers = {"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv",
                                                         "QLinearMatMul"};
  return kQuantisers.contains(node.op_type) || (node.domain == "com.microsoft" && node.op_type.starts_with("QLinear"));
}

bool moves_elements(const Node& node) {
  static const std::set<std::string_view> kMovers = {
      "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose",    "Slice",        "Concat", "Split",
      "Gather",   "MaxPool", "Pad",     "Expand",    "Tile",    "DepthToSpace", "SpaceToDepth", "Relu"};
  return node.domain.empty() && kMovers.contains(node.op_type);
}

/// Values inside of a region, seen from one of them.
class StepsInside {
 public:
  StepsInside(const Graph& graph, const Uses& uses, const Region& region)
      : graph_(graph), uses_(uses), region_(region) {}

  double of(ValueId value) {
    if (!value.valid()) return 0;
    const auto [step, is_new] = steps_.try_emplace(value, 0.0);
    if (is_new) step->second = computed(value);  // entries of a map stay where they are
    return step->second;
  }

 private:
  double computed(ValueId value) {
    const NodeId producer = uses_.producer[value.index];
    if (!producer.valid() || !region_.nodes.contains(producer.index)) return 0;
    const Node& node = graph_.node(producer);
    if (rounds(node)) return is_integer(graph_.value(value).type.element) ? 1 : 0;
    if (is_op(node, "DequantizeLinear")) return of(node.inputs[0]) * largest_scale(node);
    const bool adds = is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Sum");
    if (!adds && !moves_elements(node) && !is_op(node, "Clip")) return 0;
    double step = 0;
    for (const ValueId input : node.inputs) step = adds ? step + of(input) : std::max(step, of(input));
    return step;
  }

  [[nodiscard]] double largest_scale(const Node& node) const {
    const Tensor* scale = constant_of(graph_, input_of(node, 1));
    const auto values = scale == nullptr ? std::nullopt : floats_of(*scale);
    double largest = 0;
    for (const double value : values.value_or(std::vector<double>())) largest = std::max(largest, std::abs(value));
    return largest;
  }

  const Graph& graph_;
  const Uses& uses_;
  const Region& region_;
  std::map<ValueId, double> steps_;
};

}  // namespace

bool is_after_quantiser(const Graph& graph, const Uses& uses, ValueId value) {
  if (!is_integer(graph.value(value).type.element)) return false;
  std::vector<ValueId> open = {value};
  std::set<ValueId> seen;
  while (!open.empty()) {
    const ValueId current = open.back();
    open.pop_back();
    const NodeId producer = uses.producer[current.index];
    if (!producer.valid() || !seen.insert(current).second) continue;
    const Node& node = graph.node(producer);
    if (rounds(node)) return true;
    if (!moves_elements(node)) continue;
    for (const ValueId input : node.inputs)
      if (input.valid() && is_integer(graph.value(input).type.element)) open.push_back(input);
  }
  return false;
}

double step_of(const Graph& graph, const Uses& uses, const Region& region, ValueId output) {
  if (is_integer(graph.value(output).type.element)) return is_after_quantiser(graph, uses, output) ? 1 : 0;
  return StepsInside(graph, uses, region).of(output);
}

}  // namespace collage
