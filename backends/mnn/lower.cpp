#include "backends/mnn/lower.h"

#include <algorithm>

namespace collage::mnn {
namespace {

constexpr std::size_t kMaxRank = 6;

Done check_value(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_static()) return refuse(RefusalReason::kShape, "no static shape: " + to_string(type));
  if (type.element != ElementType::kFloat32) return refuse(RefusalReason::kType, to_string(type));
  const Extents extents = type.extents();
  if (extents.empty() || extents.size() > kMaxRank) return refuse(RefusalReason::kShape, "rank 0 or above 6");
  const std::int64_t count = element_count(extents);
  if (count == 0 || count > std::int64_t{1} << 30)
    return refuse(RefusalReason::kShape, "no elements or too many: " + to_string(type));
  return {};
}

Done check_types(const Graph& graph, const Region& region) {
  for (const auto* ids : {&region.inputs, &region.outputs})
    for (const ValueId id : *ids)
      if (auto ok = check_value(graph, id); !ok) return ok;
  for (const std::size_t n : region.nodes.members())
    for (const ValueId id : graph.nodes[n].outputs)
      if (id.valid())
        if (auto ok = check_value(graph, id); !ok) return ok;
  return {};
}

bool is_any(const Node& node, const std::string& names) {
  return node.domain.empty() && ("|" + names + "|").find("|" + node.op_type + "|") != std::string::npos;
}

std::int64_t axis_of(const Node& node, std::int64_t fallback, std::size_t rank) {
  const auto axis = attribute_or<std::int64_t>(node, "axis", fallback);
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

/// The library divides by reciprocals of 12 bits, one after the other.
Done lower_softmax(Lowering& lowering, const Node& node) {
  lowering.facts.approximates = true;
  auto axis = std::make_unique<MNN::AxisT>();
  axis->axis = static_cast<int>(axis_of(node, -1, lowering.extents(node.inputs[0]).size()));
  const int source = lowering.net.tensor(node.inputs[0]);
  const int made = lowering.net.add(MNN::OpType_Softmax, {source}, MNN::OpParameter_Axis, std::move(axis));
  lowering.net.define(node.outputs[0], made, Order::kRows);
  return {};
}

/// Of channels of images in blocks where all parts lie so, else of rows.
Done lower_concat(Lowering& lowering, const Node& node) {
  const std::size_t rank = lowering.extents(node.outputs[0]).size();
  auto axis = std::make_unique<MNN::AxisT>();
  axis->axis = static_cast<int>(axis_of(node, 0, rank));
  const bool in_blocks =
      rank == 4 && std::ranges::all_of(node.inputs, [&](ValueId id) { return lowering.net.has(id, Order::kBlocks); });
  const Order order = in_blocks ? Order::kBlocks : Order::kRows;
  std::vector<int> parts;
  for (const ValueId id : node.inputs) parts.push_back(lowering.net.tensor(id, order));
  const int made = lowering.net.add(MNN::OpType_Concat, std::move(parts), MNN::OpParameter_Axis, std::move(axis));
  lowering.net.define(node.outputs[0], made, order);
  return {};
}

/// Nodes that keep the order of all elements.
Done lower_view(Lowering& lowering, const Node& node) {
  const int source = lowering.net.tensor(node.inputs[0]);
  const int made = lowering.net.reshape(source, lowering.extents(node.outputs[0]));
  lowering.net.define(node.outputs[0], made, Order::kRows);
  return {};
}

Done lower_transpose(Lowering& lowering, const Node& node) {
  const std::size_t rank = lowering.extents(node.inputs[0]).size();
  auto order = std::make_unique<MNN::PermuteT>();
  if (const auto* perm = find_attribute<std::vector<std::int64_t>>(node, "perm"))
    order->dims.assign(perm->begin(), perm->end());
  else
    for (std::size_t axis = rank; axis-- > 0;) order->dims.push_back(static_cast<int>(axis));
  const int source = lowering.net.tensor(node.inputs[0]);
  const int made = lowering.net.add(MNN::OpType_Permute, {source}, MNN::OpParameter_Permute, std::move(order));
  lowering.net.define(node.outputs[0], made, Order::kRows);
  return {};
}

Done lower_node(Lowering& lowering, const Node& node) {
  if (is_op(node, "Conv")) return lower_convolution(lowering, node);
  if (is_op(node, "ConvTranspose")) return lower_deconvolution(lowering, node);
  if (is_any(node, "MaxPool|AveragePool|GlobalMaxPool|GlobalAveragePool")) return lower_pooling(lowering, node);
  if (is_any(node, "MatMul|Gemm")) return lower_product(lowering, node);
  if (is_any(node, unary_operators())) return lower_unary(lowering, node);
  if (is_any(node, binary_operators())) return lower_binary(lowering, node);
  if (is_op(node, "Softmax")) return lower_softmax(lowering, node);
  if (is_op(node, "Concat")) return lower_concat(lowering, node);
  if (is_any(node, "Reshape|Flatten|Squeeze|Unsqueeze")) return lower_view(lowering, node);
  if (is_op(node, "Transpose")) return lower_transpose(lowering, node);
  return refuse(RefusalReason::kOperator, node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type);
}

/// Nothing but moving elements: the host's kernels do that without a copy to and from the library.
bool moves_only(const Graph& graph, const Region& region) {
  return std::ranges::all_of(region.nodes.members(), [&](std::size_t n) {
    return is_any(graph.nodes[n], "Reshape|Flatten|Squeeze|Unsqueeze|Transpose");
  });
}

}  // namespace

bool Lowering::is_read_once(ValueId id) const {
  if (std::ranges::find(region.outputs, id) != region.outputs.end()) return false;
  std::ptrdiff_t readers = 0;
  for (const std::size_t n : region.nodes.members()) readers += std::ranges::count(graph.nodes[n].inputs, id);
  return readers == 1;
}

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Variant& ports) {
  if (region.nodes.empty() || region.outputs.empty()) return refuse(RefusalReason::kStructure, "nothing leaves it");
  if (region.inputs.empty()) return refuse(RefusalReason::kStructure, "no computed input");
  for (const std::size_t n : region.nodes.members())
    for (const ValueId id : graph.nodes[n].captures)
      if (id.valid()) return refuse(RefusalReason::kOperator, graph.nodes[n].op_type);
  if (moves_only(graph, region)) return refuse(RefusalReason::kOperator, "nothing to compute");
  if (auto ok = check_types(graph, region); !ok) return std::unexpected(ok.error());
  Lowering lowering{.graph = graph, .region = region, .net = NetWriter(graph, region, ports)};
  for (const std::size_t n : region.nodes.members())
    if (auto ok = lower_node(lowering, graph.nodes[n]); !ok) return std::unexpected(ok.error());
  lowering.net.finish();
  return Lowered{.net = lowering.net.bytes(), .constants = lowering.net.take_constants(), .facts = lowering.facts};
}

}  // namespace collage::mnn
