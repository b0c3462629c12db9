#include "analysis/steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "analysis/heads.h"

namespace collage::onednn {
namespace {

using Steps = std::vector<Step>;

constexpr float kLargest = std::numeric_limits<float>::max();

Step eltwise(std::string algorithm, float alpha = 0.F, float beta = 0.F) {
  return {.kind = PostOp::Kind::kEltwise, .algorithm = std::move(algorithm), .alpha = alpha, .beta = beta};
}
/// x max(0, min(1, x / 6 + 1 / 2)), as ONNX has it; version 2 of the library knows no other.
Step hard_swish() { return eltwise("hardswish", 1.F / 6.F, 0.5F); }
Step linear(float factor, float offset = 0.F) { return eltwise("linear", factor, offset); }
/// Limits to an interval; one without an upper end that begins at 0 has a faster algorithm.
Step limits(float low, float high) {
  return low == 0.F && high == kLargest ? eltwise("relu") : eltwise("clip", low, high);
}
Step binary(std::string algorithm, ValueId operand) {
  return {.kind = PostOp::Kind::kBinary, .algorithm = std::move(algorithm), .operand = operand};
}

/// The number in a constant of one f32 element.
std::optional<float> scalar_of(const Graph& graph, ValueId id) {
  const Tensor* tensor = constant_of(graph, id);
  if (tensor == nullptr || tensor->type != ElementType::kFloat32 || tensor->size() != 1) return std::nullopt;
  return tensor->data.as<float>()[0];
}

float alpha_of(const Node& node, float fallback) { return attribute_or<float>(node, "alpha", fallback); }

/// Operators of one input that are an algorithm of the library, or two.
std::optional<Steps> unary_steps(const Node& node) {
  const std::string& op = node.op_type;
  static const std::map<std::string, Step, std::less<>> kDirect = {{"Relu", eltwise("relu")},
                                                                   {"Sigmoid", eltwise("logistic")},
                                                                   {"Tanh", eltwise("tanh")},
                                                                   {"Exp", eltwise("exp")},
                                                                   {"Log", eltwise("log")},
                                                                   {"Sqrt", eltwise("sqrt")},
                                                                   {"Abs", eltwise("abs")},
                                                                   {"Neg", linear(-1.F)},
                                                                   {"Reciprocal", eltwise("pow", 1.F, -1.F)},
                                                                   {"Softplus", eltwise("soft_relu", 1.F)},
                                                                   {"Mish", eltwise("mish")},
                                                                   {"HardSwish", hard_swish()},
                                                                   {"Round", eltwise("round")}};
  if (const auto found = kDirect.find(op); found != kDirect.end()) return Steps{found->second};
  if (op == "LeakyRelu") return Steps{eltwise("relu", alpha_of(node, 0.01F))};
  if (op == "Elu") return Steps{eltwise("elu", alpha_of(node, 1.F))};
  if (op == "Swish") return Steps{eltwise("swish", alpha_of(node, 1.F))};
  if (op == "Gelu")
    return Steps{eltwise(attribute_or<std::string>(node, "approximate", "none") == "tanh" ? "gelu_tanh" : "gelu_erf")};
  if (op == "HardSigmoid")
    return Steps{linear(alpha_of(node, 0.2F), attribute_or<float>(node, "beta", 0.5F)), eltwise("clip", 0.F, 1.F)};
  if (op == "Selu")
    return Steps{eltwise("elu", alpha_of(node, 1.67326319F)), linear(attribute_or<float>(node, "gamma", 1.05070102F))};
  if (op == "Celu") {
    const float alpha = alpha_of(node, 1.F);
    return Steps{linear(1.F / alpha), eltwise("elu", 1.F), linear(alpha)};
  }
  return std::nullopt;
}

std::expected<Steps, Refusal> clip_steps(const Graph& graph, const Node& node) {
  std::array bounds = {-kLargest, kLargest};
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId input = input_of(node, i + 1);
    if (!input.valid()) continue;
    const auto number = scalar_of(graph, input);
    if (!number) return refuse(RefusalReason::kAttribute, "Clip with computed bounds");
    bounds[i] = std::clamp(*number, -kLargest, kLargest);
  }
  if (!(bounds[0] <= bounds[1])) return refuse(RefusalReason::kAttribute, "Clip with crossed bounds");
  return Steps{limits(bounds[0], bounds[1])};
}

std::expected<Steps, Refusal> pow_steps(const Graph& graph, const Node& node, ValueId current) {
  const auto exponent = scalar_of(graph, node.inputs[1]);
  if (node.inputs[0] != current || !exponent) return refuse(RefusalReason::kAttribute, "Pow of a computed exponent");
  if (*exponent == 2.F) return Steps{eltwise("square")};
  if (*exponent == 0.5F) return Steps{eltwise("sqrt")};
  return Steps{eltwise("pow", 1.F, *exponent)};
}

/// A scalar constant on the other side of a binary operator; `first` = the running value is the left operand.
std::optional<Steps> scalar_steps(const std::string& op, float number, bool first) {
  if (op == "Add" || op == "Sum") return Steps{linear(1.F, number)};
  if (op == "Sub") return Steps{first ? linear(1.F, -number) : linear(-1.F, number)};
  if (op == "Mul") return Steps{linear(number)};
  if (op == "Div" && first) return Steps{linear(1.F / number)};
  if (op == "Div") return Steps{eltwise("pow", number, -1.F)};
  if (op == "Max") return Steps{limits(number, kLargest)};
  if (op == "Min") return Steps{limits(-kLargest, number)};
  return std::nullopt;
}

/// Both operands are the running value.
std::optional<Steps> doubled_steps(const std::string& op) {
  if (op == "Add" || op == "Sum") return Steps{linear(2.F)};
  if (op == "Mul") return Steps{eltwise("square")};
  if (op == "Max" || op == "Min") return Steps{};
  return std::nullopt;
}

Steps tensor_steps(const std::string& op, ValueId operand, bool first) {
  if (op == "Sub" && !first) return {linear(-1.F), binary("add", operand)};
  if (op == "Div" && !first) return {eltwise("pow", 1.F, -1.F), binary("mul", operand)};
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"Add", "add"}, {"Sum", "add"}, {"Sub", "sub"}, {"Mul", "mul"}, {"Div", "div"}, {"Max", "max"}, {"Min", "min"}};
  return {binary(kNames.find(op)->second, operand)};
}

/// True when `id` is read by the region from outside: a constant or one of its inputs.
bool comes_from_outside(const Graph& graph, const Region& region, ValueId id) {
  return graph.value(id).constant.has_value() || std::ranges::find(region.inputs, id) != region.inputs.end();
}

/// An operand broadcasts to the result without enlarging it.
std::expected<void, Refusal> check_operand(const Graph& graph, const Region& region, ValueId id,
                                           const Extents& result) {
  const ValueType& type = graph.value(id).type;
  if (!comes_from_outside(graph, region, id)) return refuse(RefusalReason::kStructure, "no chain of operators");
  if (type.element != ElementType::kFloat32) return refuse(RefusalReason::kType, to_string(type));
  const Extents extents = type.extents();
  if (extents.size() > result.size()) return refuse(RefusalReason::kShape, "the operand has a higher rank");
  const Extents operand = aligned(extents, result.size());
  for (std::size_t axis = 0; axis < result.size(); ++axis)
    if (operand[axis] != 1 && operand[axis] != result[axis])
      return refuse(RefusalReason::kShape, "the operand enlarges the result");
  return {};
}

std::expected<Steps, Refusal> binary_steps(const Graph& graph, const Region& region, const Node& node,
                                           ValueId current) {
  const Extents result = graph.value(current).type.extents();
  const auto twice = std::ranges::count(node.inputs, current);
  if (twice == 2 && node.inputs.size() == 2) {
    const auto steps = doubled_steps(node.op_type);
    if (!steps) return refuse(RefusalReason::kOperator, node.op_type + " of a value with itself");
    return *steps;
  }
  if (twice != 1) return refuse(RefusalReason::kStructure, "a value read more than once");
  Steps steps;
  for (const ValueId operand : node.inputs) {
    if (operand == current) continue;
    const bool first = node.inputs[0] == current;
    if (const auto number = scalar_of(graph, operand)) {
      const auto more = scalar_steps(node.op_type, *number, first);
      if (!more) return refuse(RefusalReason::kOperator, node.op_type);
      steps.insert(steps.end(), more->begin(), more->end());
      continue;
    }
    if (const auto fits = check_operand(graph, region, operand, result); !fits) return std::unexpected(fits.error());
    const Steps more = tensor_steps(node.op_type, operand, first);
    steps.insert(steps.end(), more.begin(), more.end());
  }
  return steps;
}

std::expected<Steps, Refusal> prelu_steps(const Graph& graph, const Region& region, const Node& node, ValueId current) {
  const ValueId slope = node.inputs[1];
  if (node.inputs[0] != current) return refuse(RefusalReason::kStructure, "the slope of PRelu is the running value");
  if (const auto number = scalar_of(graph, slope)) return Steps{eltwise("relu", *number)};
  if (constant_of(graph, slope) == nullptr) return refuse(RefusalReason::kAttribute, "PRelu with a computed slope");
  const Extents result = graph.value(current).type.extents();
  if (const auto fits = check_operand(graph, region, slope, result); !fits) return std::unexpected(fits.error());
  const Extents extents = aligned(graph.value(slope).type.extents(), result.size());
  if (result.size() < 2 || element_count(extents) != extents[1])
    return refuse(RefusalReason::kShape, "PRelu with a slope that is not one per channel");
  return Steps{{.kind = PostOp::Kind::kPrelu, .algorithm = {}, .operand = slope}};
}

std::expected<Steps, Refusal> steps_of(const Graph& graph, const Region& region, const Node& node, ValueId current) {
  if (!is_step_operator(node)) return refuse(RefusalReason::kOperator, node.op_type + " is no element-wise step");
  const ValueType& type = graph.value(node.outputs[0]).type;
  if (type.element != ElementType::kFloat32) return refuse(RefusalReason::kType, to_string(type));
  if (type.extents() != graph.value(current).type.extents())
    return refuse(RefusalReason::kShape, node.op_type + " enlarges the running value");
  if (const auto steps = unary_steps(node)) return *steps;
  if (node.op_type == "Clip") return clip_steps(graph, node);
  if (node.op_type == "Pow") return pow_steps(graph, node, current);
  if (node.op_type == "PRelu") return prelu_steps(graph, region, node, current);
  return binary_steps(graph, region, node, current);
}

/// Nodes still to take that read a value, in topological order.
std::vector<std::size_t> readers_of(const Graph& graph, const NodeSet& left, ValueId value) {
  std::vector<std::size_t> readers;
  for (std::size_t n = left.next(); n < left.universe(); n = left.next(n + 1))
    if (std::ranges::find(graph.nodes[n].inputs, value) != graph.nodes[n].inputs.end()) readers.push_back(n);
  return readers;
}

/// The node still to take that makes a value; the universe's size when there is none.
std::size_t maker_of(const Graph& graph, const NodeSet& left, ValueId value) {
  for (std::size_t n = left.next(); n < left.universe(); n = left.next(n + 1))
    if (graph.nodes[n].outputs[0] == value) return n;
  return left.universe();
}

struct Activation {
  Step step;
  std::vector<std::size_t> nodes;
  ValueId result;
};

/// The gate g of x * g(x), as one step for the whole product.
std::optional<Activation> gate_of(const Graph& graph, const NodeSet& left, ValueId x, ValueId gate) {
  const std::size_t outer = maker_of(graph, left, gate);
  if (outer == left.universe()) return std::nullopt;
  const Node& node = graph.nodes[outer];
  const ValueId argument = node.inputs[0];
  if (is_op(node, "Sigmoid") && argument == x) return Activation{eltwise("swish", 1.F), {outer}, {}};
  if (is_op(node, "HardSigmoid") && argument == x) {
    const bool standard =
        std::abs(alpha_of(node, 0.2F) - 1.F / 6.F) < 1e-6F && attribute_or<float>(node, "beta", 0.5F) == 0.5F;
    if (standard) return Activation{hard_swish(), {outer}, {}};
    return std::nullopt;
  }
  const std::size_t inner = maker_of(graph, left, argument);
  if (inner == left.universe()) return std::nullopt;
  const Node& before = graph.nodes[inner];
  if (is_op(node, "Tanh") && is_op(before, "Softplus") && before.inputs[0] == x)
    return Activation{eltwise("mish"), {outer, inner}, {}};
  if (is_op(node, "Sigmoid") && is_op(before, "Mul"))
    for (std::size_t side = 0; side < 2; ++side)
      if (const auto factor = scalar_of(graph, before.inputs[1 - side]); factor && before.inputs[side] == x)
        return Activation{eltwise("swish", *factor), {outer, inner}, {}};
  return std::nullopt;
}

/// x * g(x) where x is the running value.
std::optional<Activation> activation_at(const Graph& graph, const NodeSet& left, ValueId x) {
  for (const std::size_t n : readers_of(graph, left, x)) {
    const Node& node = graph.nodes[n];
    if (!is_op(node, "Mul") || node.inputs[0] == node.inputs[1]) continue;
    const ValueId gate = node.inputs[0] == x ? node.inputs[1] : node.inputs[0];
    auto found = gate_of(graph, left, x, gate);
    if (!found) continue;
    found->nodes.push_back(n);
    found->result = node.outputs[0];
    return found;
  }
  return std::nullopt;
}

/// The interval a step limits its argument to; nothing for other steps.
std::optional<std::pair<float, float>> limits_of(const Step& step) {
  if (step.algorithm == "clip") return std::pair{step.alpha, step.beta};
  if (step.algorithm == "relu" && step.alpha == 0.F) return std::pair{0.F, kLargest};
  return std::nullopt;
}

/// `next` after `last` as one step, written to `last`.
bool join(Step& last, const Step& next) {
  if (last.algorithm == "linear" && next.algorithm == "linear") {
    last.beta = last.beta * next.alpha + next.beta;
    last.alpha *= next.alpha;
    return true;
  }
  const auto inner = limits_of(last);
  const auto outer = limits_of(next);
  if (!inner || !outer) return false;
  const auto limit = [&](float bound) { return std::clamp(bound, outer->first, outer->second); };
  last = limits(limit(inner->first), limit(inner->second));
  return true;
}

/// Joins neighbouring steps of a kind and drops those that do nothing.
void simplify(Steps& steps) {
  Steps result;
  for (Step& step : steps) {
    if (result.empty() || !join(result.back(), step)) result.push_back(std::move(step));
    const Step& last = result.back();
    if (last.algorithm == "linear" && std::abs(last.alpha - 1.F) < 2e-7F && last.beta == 0.F) result.pop_back();
  }
  steps = std::move(result);
}

}  // namespace

std::expected<Chain, Refusal> read_chain(const Graph& graph, const Region& region, ValueId start, NodeSet& left) {
  Chain chain{.steps = {}, .result = start};
  for (;;) {
    if (const auto activation = activation_at(graph, left, chain.result)) {
      chain.steps.push_back(activation->step);
      for (const std::size_t n : activation->nodes) left.erase(n);
      chain.result = activation->result;
      continue;
    }
    const std::vector<std::size_t> readers = readers_of(graph, left, chain.result);
    if (readers.empty() || !is_step_operator(graph.nodes[readers[0]])) break;
    const bool from_outside = comes_from_outside(graph, region, chain.result);
    if (readers.size() > 1 && !from_outside) return refuse(RefusalReason::kStructure, "a value read more than once");
    const Node& node = graph.nodes[readers[0]];
    auto steps = steps_of(graph, region, node, chain.result);
    if (!steps) return std::unexpected(steps.error());
    chain.steps.insert(chain.steps.end(), steps->begin(), steps->end());
    left.erase(readers[0]);
    chain.result = node.outputs[0];
  }
  simplify(chain.steps);
  return chain;
}

const std::string& step_operators() {
  static const std::string names =
      "Relu|LeakyRelu|Elu|Selu|Celu|Sigmoid|HardSigmoid|HardSwish|Swish|Tanh|Clip|Exp|Log|Sqrt|Abs|Neg|Reciprocal|"
      "Softplus|Mish|Gelu|Pow|PRelu|Round|Add|Sub|Mul|Div|Max|Min|Sum";
  return names;
}

bool is_step_operator(const Node& node) {
  return node.domain.empty() && ("|" + step_operators() + "|").find("|" + node.op_type + "|") != std::string::npos;
}

Extents aligned(const Extents& extents, std::size_t rank) {
  Extents result(rank - extents.size(), 1);
  result.insert(result.end(), extents.begin(), extents.end());
  return result;
}

}  // namespace collage::onednn
