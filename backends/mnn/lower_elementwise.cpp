// Element-wise nodes. They work on blocks where their operands lie so, and are fused into a convolution before them
// where the library can.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "backends/mnn/lower.h"

namespace collage::mnn {
namespace {

constexpr float kUnlimited = std::numeric_limits<float>::infinity();

const std::map<std::string, MNN::UnaryOpOperation, std::less<>>& unary_names() {
  static const std::map<std::string, MNN::UnaryOpOperation, std::less<>> names = {
      {"Abs", MNN::UnaryOpOperation_ABS},           {"Neg", MNN::UnaryOpOperation_NEG},
      {"Floor", MNN::UnaryOpOperation_FLOOR},       {"Ceil", MNN::UnaryOpOperation_CEIL},
      {"Sqrt", MNN::UnaryOpOperation_SQRT},         {"Exp", MNN::UnaryOpOperation_EXP},
      {"Log", MNN::UnaryOpOperation_LOG},           {"Reciprocal", MNN::UnaryOpOperation_RECIPROCAL},
      {"Erf", MNN::UnaryOpOperation_ERF},           {"Sigmoid", MNN::UnaryOpOperation_SIGMOID},
      {"Tanh", MNN::UnaryOpOperation_TANH},         {"HardSwish", MNN::UnaryOpOperation_HARDSWISH},
      {"Gelu", MNN::UnaryOpOperation_GELU_STANDARD}};
  return names;
}

const std::map<std::string, MNN::BinaryOpOperation, std::less<>>& binary_names() {
  static const std::map<std::string, MNN::BinaryOpOperation, std::less<>> names = {
      {"Add", MNN::BinaryOpOperation_ADD},     {"Sum", MNN::BinaryOpOperation_ADD},
      {"Sub", MNN::BinaryOpOperation_SUB},     {"Mul", MNN::BinaryOpOperation_MUL},
      {"Div", MNN::BinaryOpOperation_REALDIV}, {"Max", MNN::BinaryOpOperation_MAXIMUM},
      {"Min", MNN::BinaryOpOperation_MINIMUM}, {"Pow", MNN::BinaryOpOperation_POW}};
  return names;
}

/// The last block of channels has lanes that stand for no channel. What reads blocks multiplies them by 0, so they must
/// stay finite.
bool keeps_lanes_finite(const Node& node) {
  for (const char* name : {"Log", "Reciprocal", "Div", "Pow", "Exp", "Sqrt"})
    if (node.op_type == name) return false;
  return true;
}

std::optional<float> scalar_of(const Graph& graph, ValueId id) {
  const Tensor* tensor = constant_of(graph, id);
  if (tensor == nullptr || tensor->type != ElementType::kFloat32 || tensor->size() != 1) return std::nullopt;
  return tensor->data.as<float>()[0];
}

/// The order in which one operand is read and the result is written.
Order order_of(const Lowering& lowering, const Node& node) {
  return lowering.net.has(node.inputs[0], Order::kBlocks) && keeps_lanes_finite(node) ? Order::kBlocks : Order::kRows;
}

/// The bounds of Clip; nothing when they are computed.
std::optional<std::pair<float, float>> bounds_of(const Graph& graph, const Node& node) {
  std::pair<float, float> bounds = {-kUnlimited, kUnlimited};
  if (const ValueId low = input_of(node, 1); low.valid()) {
    const auto number = scalar_of(graph, low);
    if (!number) return std::nullopt;
    bounds.first = *number;
  }
  if (const ValueId high = input_of(node, 2); high.valid()) {
    const auto number = scalar_of(graph, high);
    if (!number) return std::nullopt;
    bounds.second = *number;
  }
  return bounds;
}

int add_binary(NetWriter& net, MNN::BinaryOpOperation operation, int left, int right) {
  auto parameter = std::make_unique<MNN::BinaryOpT>();
  parameter->opType = operation;
  return net.add(MNN::OpType_BinaryOp, {left, right}, MNN::OpParameter_BinaryOp, std::move(parameter));
}

int add_limit(NetWriter& net, int source, float low, float high) {
  auto interval = std::make_unique<MNN::Relu6T>();
  interval->minValue = low;
  interval->maxValue = high;
  return net.add(MNN::OpType_ReLU6, {source}, MNN::OpParameter_Relu6, std::move(interval));
}

/// Relu and Relu6 as part of the convolution, or product, that they follow.
bool fuse(Lowering& lowering, const Node& node, float low, float high) {
  const bool is_relu = low == 0.F && high == kUnlimited;
  if (!is_relu && !(low == 0.F && high == 6.F)) return false;
  if (!lowering.is_read_once(node.inputs[0])) return false;
  MNN::Convolution2DCommonT* const convolution = lowering.net.fusible(node.inputs[0]);
  if (convolution == nullptr) return false;
  (is_relu ? convolution->relu : convolution->relu6) = true;
  lowering.net.rename(node.inputs[0], node.outputs[0]);
  return true;
}

Done limit(Lowering& lowering, const Node& node, float low, float high) {
  if (fuse(lowering, node, low, high)) return {};
  NetWriter& net = lowering.net;
  const Order order = order_of(lowering, node);
  const int source = net.tensor(node.inputs[0], order);
  const bool is_relu = low == 0.F && high == kUnlimited;
  const int made = is_relu ? net.add(MNN::OpType_ReLU, {source}, MNN::OpParameter_Relu, std::make_unique<MNN::ReluT>())
                           : add_limit(net, source, low, high);
  net.define(node.outputs[0], made, order);
  return {};
}

int add_leaky(NetWriter& net, int source, float slope) {
  auto relu = std::make_unique<MNN::ReluT>();
  relu->slope = slope;
  return net.add(MNN::OpType_ReLU, {source}, MNN::OpParameter_Relu, std::move(relu));
}

int add_unary(NetWriter& net, MNN::UnaryOpOperation operation, int source) {
  auto unary = std::make_unique<MNN::UnaryOpT>();
  unary->opType = operation;
  return net.add(MNN::OpType_UnaryOp, {source}, MNN::OpParameter_UnaryOp, std::move(unary));
}

int add_hard_sigmoid(NetWriter& net, const Node& node, int source) {
  const int slope = net.scalar(attribute_or<float>(node, "alpha", 0.2F));
  const int offset = net.scalar(attribute_or<float>(node, "beta", 0.5F));
  const int scaled = add_binary(net, MNN::BinaryOpOperation_MUL, source, slope);
  return add_limit(net, add_binary(net, MNN::BinaryOpOperation_ADD, scaled, offset), 0.F, 1.F);
}

/// Operators of one operand that are not limits.
int add_function(NetWriter& net, const Node& node, int source) {
  if (node.op_type == "LeakyRelu") return add_leaky(net, source, attribute_or<float>(node, "alpha", 0.01F));
  if (node.op_type == "HardSigmoid") return add_hard_sigmoid(net, node, source);
  if (node.op_type == "Elu") {
    auto elu = std::make_unique<MNN::ELUT>();
    elu->alpha = attribute_or<float>(node, "alpha", 1.F);
    return net.add(MNN::OpType_ELU, {source}, MNN::OpParameter_ELU, std::move(elu));
  }
  if (node.op_type == "Swish") {
    const int gate = add_unary(net, MNN::UnaryOpOperation_SIGMOID, source);
    return add_binary(net, MNN::BinaryOpOperation_MUL, source, gate);
  }
  if (node.op_type == "Gelu" && attribute_or<std::string>(node, "approximate", "none") == "tanh")
    return add_unary(net, MNN::UnaryOpOperation_GELU, source);
  return add_unary(net, unary_names().find(node.op_type)->second, source);
}

}  // namespace

Done lower_unary(Lowering& lowering, const Node& node) {
  NetWriter& net = lowering.net;
  if (node.op_type == "Relu") return limit(lowering, node, 0.F, kUnlimited);
  if (node.op_type == "Clip") {
    const auto bounds = bounds_of(lowering.graph, node);
    if (!bounds) return refuse(RefusalReason::kAttribute, "Clip with computed bounds");
    if (!(bounds->first <= bounds->second)) return refuse(RefusalReason::kAttribute, "Clip with crossed bounds");
    return limit(lowering, node, bounds->first, bounds->second);
  }
  if (node.op_type == "Swish" && attribute_or<float>(node, "alpha", 1.F) != 1.F)
    return refuse(RefusalReason::kAttribute, "Swish with a factor");
  const bool has_slope = node.op_type == "PRelu";
  const auto slope = has_slope ? scalar_of(lowering.graph, node.inputs[1]) : std::nullopt;
  if (has_slope && !slope) return refuse(RefusalReason::kAttribute, "PRelu with several slopes");
  const Order order = order_of(lowering, node);
  const int source = net.tensor(node.inputs[0], order);
  net.define(node.outputs[0], slope ? add_leaky(net, source, *slope) : add_function(net, node, source), order);
  return {};
}

Done lower_binary(Lowering& lowering, const Node& node) {
  if (node.inputs.size() < 2) return refuse(RefusalReason::kStructure, node.op_type + " of one operand");
  for (const ValueId id : node.inputs)
    if (const ValueType& type = lowering.graph.value(id).type; type.element != ElementType::kFloat32)
      return refuse(RefusalReason::kType, to_string(type));
  const Extents out = lowering.extents(node.outputs[0]);
  // In blocks when no operand would have to be spread over them.
  bool in_blocks = keeps_lanes_finite(node);
  bool has_blocks = false;
  for (const ValueId id : node.inputs) {
    if (scalar_of(lowering.graph, id)) continue;
    has_blocks = has_blocks || lowering.net.has(id, Order::kBlocks);
    in_blocks = in_blocks && constant_of(lowering.graph, id) == nullptr && lowering.extents(id) == out;
  }
  const Order order = in_blocks && has_blocks ? Order::kBlocks : Order::kRows;
  const auto operand = [&](ValueId id) {
    const auto number = scalar_of(lowering.graph, id);
    return number ? lowering.net.scalar(*number) : lowering.net.tensor(id, order);
  };
  int made = operand(node.inputs[0]);
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    made = add_binary(lowering.net, binary_names().find(node.op_type)->second, made, operand(node.inputs[i]));
  lowering.net.define(node.outputs[0], made, order);
  return {};
}

const std::string& unary_operators() {
  static const std::string names =
      "Relu|LeakyRelu|PRelu|Elu|Clip|HardSigmoid|HardSwish|Swish|Sigmoid|Tanh|Gelu|Erf|Abs|Neg|Floor|Ceil|Sqrt|Exp|Log|"
      "Reciprocal";
  return names;
}

const std::string& binary_operators() {
  static const std::string names = "Add|Sub|Mul|Div|Max|Min|Pow|Sum";
  return names;
}

}  // namespace collage::mnn
