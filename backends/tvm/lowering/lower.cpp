#include "backends/tvm/lowering/lower.h"

#include <algorithm>
#include <utility>

#include "backends/tvm/lowering/rules_of_operators.h"

namespace collage::tvm {
namespace {

using Rule = Done (*)(Describer&, const Node&);

constexpr std::size_t kMostAxes = 6;

/// What TVM fuses with what.
enum class Role : std::uint8_t {
  kElement,    ///< computes each element on its own: joins any kernel
  kReduction,  ///< takes elements before and behind it into its kernel
  kAnchor      ///< takes those behind it
};

struct OperatorRule {
  Rule rule;
  Role role = Role::kElement;
};

const std::map<std::string, OperatorRule, std::less<>>& operators() {
  static const std::map<std::string, OperatorRule, std::less<>> kRules = {
      {"Conv", {lower_convolution, Role::kAnchor}},
      {"MaxPool", {lower_pooling, Role::kAnchor}},
      {"AveragePool", {lower_pooling, Role::kAnchor}},
      {"GlobalAveragePool", {lower_reduction, Role::kReduction}},
      {"GlobalMaxPool", {lower_reduction, Role::kReduction}},
      {"ReduceMean", {lower_reduction, Role::kReduction}},
      {"ReduceSum", {lower_reduction, Role::kReduction}},
      {"ReduceMax", {lower_reduction, Role::kReduction}},
      {"ReduceMin", {lower_reduction, Role::kReduction}},
      {"Softmax", {lower_softmax, Role::kReduction}},
      {"MatMul", {lower_matmul, Role::kAnchor}},
      {"Gemm", {lower_gemm, Role::kAnchor}},
      {"Abs", {lower_unary}},
      {"Add", {lower_binary}},
      {"Ceil", {lower_unary}},
      {"Clip", {lower_clip}},
      {"Div", {lower_binary}},
      {"Elu", {lower_slope}},
      {"Erf", {lower_unary}},
      {"Exp", {lower_unary}},
      {"Floor", {lower_unary}},
      {"Gelu", {lower_unary}},
      {"HardSigmoid", {lower_hard}},
      {"HardSwish", {lower_hard}},
      {"LeakyRelu", {lower_slope}},
      {"Log", {lower_unary}},
      {"Max", {lower_binary}},
      {"Min", {lower_binary}},
      {"Mul", {lower_binary}},
      {"Neg", {lower_unary}},
      {"PRelu", {lower_binary}},
      {"Pow", {lower_pow}},
      {"Reciprocal", {lower_unary}},
      {"Relu", {lower_unary}},
      {"Sigmoid", {lower_unary}},
      {"Sqrt", {lower_unary}},
      {"Sub", {lower_binary}},
      {"Sum", {lower_binary}},
      {"Tanh", {lower_unary}}};
  return kRules;
}

const OperatorRule* rule_of(const Node& node) {
  const auto found = operators().find(node.op_type);
  return node.domain.empty() && found != operators().end() ? &found->second : nullptr;
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

/// A region is one kernel: with two, it would be worth no more than its parts.
Done check_roles(const Graph& graph, const Region& region) {
  bool has_one = false;
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    const Role role = rule_of(node)->role;
    if (role == Role::kElement) continue;
    if (std::exchange(has_one, true)) return refuse(RefusalReason::kStructure, node.op_type + " is another kernel");
    if (role == Role::kReduction) continue;
    for (const ValueId id : node.inputs)
      if (id.valid() && constant_of(graph, id) == nullptr &&
          std::ranges::find(region.inputs, id) == region.inputs.end())
        return refuse(RefusalReason::kStructure, "what comes before " + node.op_type + " is another kernel");
  }
  return {};
}

std::string listed_elements() {
  std::string names;
  for (const auto& [name, rule] : operators())
    if (rule.role == Role::kElement) names += (names.empty() ? "" : "|") + name;
  return names;
}

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, Layout layout) {
  if (auto ok = check_types(graph, region); !ok) return std::unexpected(ok.error());
  if (auto ok = check_roles(graph, region); !ok) return std::unexpected(ok.error());
  // Inputs that only say along which axes something is computed are constants.
  for (const ValueId id : region.inputs)
    if (auto ok = check_type(graph, id); !ok) return std::unexpected(ok.error());
  Describer describer(graph, region, layout);
  for (const std::size_t n : region.nodes.members())
    if (auto ok = rule_of(graph.nodes[n])->rule(describer, graph.nodes[n]); !ok) return std::unexpected(ok.error());
  return describer.take();
}

const std::string& element_operators() {
  static const std::string kNames = listed_elements();
  return kNames;
}

}  // namespace collage::tvm
