#include "numbers/quantisers.h"

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

}  // namespace collage
