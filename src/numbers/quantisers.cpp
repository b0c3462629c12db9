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

double largest_scale(const Graph& graph, const Node& dequantiser) {
  const Tensor* const scale = constant_of(graph, input_of(dequantiser, 1));
  const auto values = scale == nullptr ? std::nullopt : floats_of(*scale);
  double largest = 0;
  if (values)
    for (const double value : *values) largest = std::max(largest, std::abs(value));
  return largest;
}

using Steps = std::map<ValueId, double>;  ///< of values; those that are not there have none

double step_at(const Steps& steps, ValueId value) {
  const auto found = steps.find(value);
  return found == steps.end() ? 0 : found->second;
}

/// What a node makes of the steps of its inputs.
double step_after(const Graph& graph, const Node& node, const Steps& steps) {
  if (is_op(node, "DequantizeLinear")) return step_at(steps, node.inputs[0]) * largest_scale(graph, node);
  double sum = 0;
  double largest = 0;
  for (const ValueId input : node.inputs) {
    sum += step_at(steps, input);
    largest = std::max(largest, step_at(steps, input));
  }
  if (is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Sum")) return sum;
  return moves_elements(node) || is_op(node, "Clip") ? largest : 0;
}

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
  Steps steps;
  for (const std::size_t n : region.nodes.members()) {  // in topological order
    const Node& node = graph.nodes[n];
    const bool is_quantiser = rounds(node);
    if (steps.empty() && !is_quantiser) continue;
    for (const ValueId made : node.outputs)
      if (made.valid() && (!is_quantiser || is_integer(graph.value(made).type.element)))
        steps[made] = is_quantiser ? 1 : step_after(graph, node, steps);
  }
  return step_at(steps, output);
}

}  // namespace collage
