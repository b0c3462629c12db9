#include "backends/tvm/lowering/lower.h"

#include <algorithm>

#include "backends/tvm/lowering/rules_of_operators.h"

namespace collage::tvm {
namespace {

using Rule = Done (*)(Describer&, const Node&);

constexpr std::size_t kMostAxes = 6;

struct OperatorRule {
  Rule rule;
  bool is_element = false;  ///< computes each element on its own
};

const std::map<std::string, OperatorRule, std::less<>>& operators() {
  static const std::map<std::string, OperatorRule, std::less<>> kRules = {
      {"Conv", {lower_convolution}},        {"MaxPool", {lower_pooling}},
      {"AveragePool", {lower_pooling}},     {"GlobalAveragePool", {lower_reduction}},
      {"GlobalMaxPool", {lower_reduction}}, {"ReduceMean", {lower_reduction}},
      {"ReduceSum", {lower_reduction}},     {"ReduceMax", {lower_reduction}},
      {"ReduceMin", {lower_reduction}},     {"Softmax", {lower_softmax}},
      {"MatMul", {lower_matmul}},           {"Gemm", {lower_gemm}},
      {"Abs", {lower_unary, true}},         {"Add", {lower_binary, true}},
      {"Ceil", {lower_unary, true}},        {"Clip", {lower_clip, true}},
      {"Div", {lower_binary, true}},        {"Elu", {lower_slope, true}},
      {"Erf", {lower_unary, true}},         {"Exp", {lower_unary, true}},
      {"Floor", {lower_unary, true}},       {"Gelu", {lower_unary, true}},
      {"HardSigmoid", {lower_hard, true}},  {"HardSwish", {lower_hard, true}},
      {"LeakyRelu", {lower_slope, true}},   {"Log", {lower_unary, true}},
      {"Max", {lower_binary, true}},        {"Min", {lower_binary, true}},
      {"Mul", {lower_binary, true}},        {"Neg", {lower_unary, true}},
      {"PRelu", {lower_binary, true}},      {"Pow", {lower_pow, true}},
      {"Reciprocal", {lower_unary, true}},  {"Relu", {lower_unary, true}},
      {"Sigmoid", {lower_unary, true}},     {"Sqrt", {lower_unary, true}},
      {"Sub", {lower_binary, true}},        {"Sum", {lower_binary, true}},
      {"Tanh", {lower_unary, true}}};
  return kRules;
}

Rule rule_of(const Node& node) {
  const auto found = operators().find(node.op_type);
  return node.domain.empty() && found != operators().end() ? found->second.rule : nullptr;
}

Done check_type(const Graph& graph, ValueId id) {
  const ValueType& type = graph.value(id).type;
  if (!type.is_static()) return refuse(RefusalReason::kShape, "no static shape: " + to_string(type));
  if (type.element != ElementType::kFloat32) return refuse(RefusalReason::kType, to_string(type));
  if (type.extents().size() > kMostAxes) return refuse(RefusalReason::kShape, "more than six axes");
  if (element_count(type.extents()) == 0) return refuse(RefusalReason::kShape, "no elements");
  return {};
}

/// Every value that is computed or computed with is f32; constants of other types are axes.
Done check_types(const Graph& graph, const Region& region) {
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    if (rule_of(node) == nullptr) return refuse(RefusalReason::kOperator, node.op_type);
    for (const ValueId id : node.outputs)
      if (id.valid())
        if (auto ok = check_type(graph, id); !ok) return ok;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      const bool is_axes = node.op_type.starts_with("Reduce") && i > 0;
      if (id.valid() && !is_axes)
        if (auto ok = check_type(graph, id); !ok) return ok;
    }
  }
  return {};
}

std::string listed_elements() {
  std::string names;
  for (const auto& [name, rule] : operators())
    if (rule.is_element) names += (names.empty() ? "" : "|") + name;
  return names;
}

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, Layout layout) {
  if (auto ok = check_types(graph, region); !ok) return std::unexpected(ok.error());
  // Inputs that only say along which axes something is computed are constants.
  for (const ValueId id : region.inputs)
    if (auto ok = check_type(graph, id); !ok) return std::unexpected(ok.error());
  Describer describer(graph, region, layout);
  for (const std::size_t n : region.nodes.members())
    if (auto ok = rule_of(graph.nodes[n])(describer, graph.nodes[n]); !ok) return std::unexpected(ok.error());
  return describer.take();
}

const std::string& element_operators() {
  static const std::string kNames = listed_elements();
  return kNames;
}

}  // namespace collage::tvm
