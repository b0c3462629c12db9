// Operators that compute each element on its own, with one operand or several.
#include <algorithm>
#include <array>

#include "backends/tvm/lowering/rules_of_operators.h"

namespace collage::tvm {
namespace {

using Names = std::map<std::string, const char*, std::less<>>;

const Names& unaries() {
  static const Names kNames = {{"Abs", "abs"},     {"Ceil", "ceil"}, {"Erf", "erf"},         {"Exp", "exp"},
                               {"Floor", "floor"}, {"Gelu", "gelu"}, {"Log", "log"},         {"Neg", "negative"},
                               {"Relu", "relu"},   {"Sqrt", "sqrt"}, {"Sigmoid", "sigmoid"}, {"Tanh", "tanh"}};
  return kNames;
}

const Names& binaries() {
  static const Names kNames = {{"Add", "add"},    {"Sum", "add"},     {"Sub", "subtract"}, {"Mul", "multiply"},
                               {"Div", "divide"}, {"Max", "maximum"}, {"Min", "minimum"},  {"PRelu", "prelu"}};
  return kNames;
}

/// The one number of a constant.
std::optional<float> number_of(const Graph& graph, ValueId id) {
  const Tensor* tensor = constant_of(graph, id);
  if (tensor == nullptr || tensor->size() != 1 || tensor->type != ElementType::kFloat32) return std::nullopt;
  return tensor->data.as<float>()[0];
}

std::string limited(Describer& describer, const std::string& tensor, float least, float most) {
  return describer.add("minimum",
                       {describer.add("maximum", {tensor, describer.literal(least)}), describer.literal(most)});
}

}  // namespace

Done lower_unary(Describer& describer, const Node& node) {
  const std::string source = describer.read(node.inputs[0]);
  if (node.op_type == "Reciprocal") {
    describer.write(node.outputs[0], describer.add("divide", {describer.literal(1.F), source}));
    return {};
  }
  if (node.op_type == "Gelu" && attribute_or<std::string>(node, "approximate", "none") != "none")
    return refuse(RefusalReason::kAttribute, "Gelu by tanh");
  describer.write(node.outputs[0], describer.add(unaries().find(node.op_type)->second, {source}));
  return {};
}

Done lower_clip(Describer& describer, const Node& node) {
  std::string made = describer.read(node.inputs[0]);
  const std::array names = {"maximum", "minimum"};
  bool is_limited = false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!input_of(node, i + 1).valid()) continue;
    const auto number = number_of(describer.graph(), node.inputs[i + 1]);
    if (!number) return refuse(RefusalReason::kAttribute, "Clip with computed bounds");
    made = describer.add(names[i], {made, describer.literal(*number)});
    is_limited = true;
  }
  if (!is_limited) return refuse(RefusalReason::kAttribute, "Clip without bounds");
  describer.write(node.outputs[0], made);
  return {};
}

/// What is another function below 0.
Done lower_slope(Describer& describer, const Node& node) {
  const std::string source = describer.read(node.inputs[0]);
  if (node.op_type == "Elu") {
    describer.write(node.outputs[0],
                    describer.add("elu", {source}, {{"alpha", attribute_or<float>(node, "alpha", 1.F)}}));
    return {};
  }
  const std::string slope = describer.literal(attribute_or<float>(node, "alpha", 0.01F));
  describer.write(node.outputs[0], describer.add("prelu", {source, slope}));
  return {};
}

Done lower_hard(Describer& describer, const Node& node) {
  const bool is_swish = node.op_type == "HardSwish";
  const float alpha = is_swish ? 1.F / 6.F : attribute_or<float>(node, "alpha", 0.2F);
  const float beta = is_swish ? 0.5F : attribute_or<float>(node, "beta", 0.5F);
  const std::string source = describer.read(node.inputs[0]);
  const std::string sloped = describer.add("multiply", {source, describer.literal(alpha)});
  std::string made = limited(describer, describer.add("add", {sloped, describer.literal(beta)}), 0.F, 1.F);
  if (is_swish) made = describer.add("multiply", {source, made});
  describer.write(node.outputs[0], made);
  return {};
}

Done lower_pow(Describer& describer, const Node& node) {
  const auto exponent = number_of(describer.graph(), node.inputs[1]);
  const bool is_known = exponent && (*exponent == 2.F || *exponent == 3.F || *exponent == 0.5F);
  if (!is_known || describer.extents(node.inputs[0]) != describer.extents(node.outputs[0]))
    return refuse(RefusalReason::kAttribute, "Pow by other than 0.5, 2 and 3");
  const std::string source = describer.read(node.inputs[0]);
  std::string made = *exponent == 0.5F ? describer.add("sqrt", {source}) : describer.add("multiply", {source, source});
  if (*exponent == 3.F) made = describer.add("multiply", {made, source});
  describer.write(node.outputs[0], made);
  return {};
}

Done lower_binary(Describer& describer, const Node& node) {
  if (node.inputs.size() < 2) return refuse(RefusalReason::kStructure, node.op_type + " of one value");
  const std::size_t rank = describer.rank(node.outputs[0]);
  std::string made;
  for (const ValueId id : node.inputs) {
    const auto operand = describer.read_broadcast(id, rank);
    if (!operand) return refuse(RefusalReason::kFormat, "an operand of lower rank in another order");
    made = made.empty() ? *operand : describer.add(binaries().find(node.op_type)->second, {made, *operand});
  }
  describer.write(node.outputs[0], made);
  return {};
}

}  // namespace collage::tvm
