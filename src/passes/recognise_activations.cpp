// Finds activation functions that exporters wrote as arithmetic: Gelu (both forms), HardSigmoid, HardSwish, Softplus,
// Mish. Engines have one kernel for each; the arithmetic would cost a pass over memory per node.
#include <cmath>

#include "passes/factors.h"
#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

const double kSqrtHalf = std::sqrt(0.5);
const double kSqrtTwoOverPi = std::sqrt(2.0 / std::acos(-1.0));
constexpr double kGeluCubic = 0.044715;

bool has_version(const Editor& editor, std::int64_t at_least) {
  const auto version = editor.graph().opsets.find("");
  return version != editor.graph().opsets.end() && version->second >= at_least;
}

bool is_f32(const Editor& editor, ValueId id) { return element_of(editor.graph(), id) == ElementType::kFloat32; }

/// Puts a unary operator of the same result in the place of `id`.
void put_unary(Editor& editor, NodeId id, std::string op_type, ValueId input, std::vector<Attribute> attributes = {}) {
  const Node& node = editor.node(id);
  editor.replace(id, Node{.name = node.name,
                          .domain = {},
                          .op_type = std::move(op_type),
                          .inputs = {input},
                          .outputs = node.outputs,
                          .captures = {},
                          .attributes = std::move(attributes)});
}

bool same_as_output(const Editor& editor, NodeId id, ValueId x) {
  return x.valid() && is_f32(editor, x) && same_type(editor.graph(), x, editor.node(id).outputs[0]);
}

/// 1 + f(...): the node that computes f, one of the wanted operators.
const Node* plus_one(const Editor& editor, ValueId value, std::string_view op_type) {
  const Node* sum = editor.producer_op(value, "Add");
  if (sum == nullptr) return nullptr;
  const ValueId inner = other_than(editor.graph(), *sum, 1.0);
  return inner.valid() ? editor.producer_op(inner, op_type) : nullptr;
}

/// x for which `value` is x / sqrt(2).
ValueId over_sqrt2(const Editor& editor, ValueId value) {
  // One level only: x may itself be a product.
  const NodeId maker = editor.producer(value);
  if (!maker.valid()) return {};
  const Node& node = editor.node(maker);
  if (is_op(node, "Mul")) return other_than(editor.graph(), node, kSqrtHalf);
  if (is_op(node, "Div") && is_scalar(editor.graph(), node.inputs[1], std::sqrt(2.0))) return node.inputs[0];
  return {};
}

/// x for which `value` is sqrt(2/pi) * (x + 0.044715 x^3), also as sqrt(2/pi) * x * (1 + 0.044715 x^2).
ValueId gelu_tanh_argument(const Editor& editor, ValueId value) {
  const Factors outer = factors_of(editor, value, {});
  if (!is_about(outer.number, kSqrtTwoOverPi)) return {};
  for (const ValueId factor : outer.values) {
    const Node* sum = editor.producer_op(factor, "Add");
    if (sum == nullptr) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const ValueId x = sum->inputs[side];
      const Factors cubic = factors_of(editor, sum->inputs[1 - side], x, true);
      if (outer.values.size() == 1 && is_about(cubic.number, kGeluCubic) && are_exactly(cubic.values, {x, x, x}))
        return x;
    }
    const ValueId square = other_than(editor.graph(), *sum, 1.0);
    if (!square.valid() || outer.values.size() != 2) continue;
    const ValueId x = outer.values[0] == factor ? outer.values[1] : outer.values[0];
    const Factors inner = factors_of(editor, square, x, true);
    if (is_about(inner.number, kGeluCubic) && are_exactly(inner.values, {x, x})) return x;
  }
  return {};
}

bool gelu(Editor& editor, NodeId id) {
  if (!is_op(editor.node(id), "Mul") || !has_version(editor, 20)) return false;
  const ValueId output = editor.node(id).outputs[0];
  for (const ValueId factor : factors_of(editor, output, {}).values) {
    const Node* erf = plus_one(editor, factor, "Erf");
    const Node* tanh = erf == nullptr ? plus_one(editor, factor, "Tanh") : nullptr;
    if (erf == nullptr && tanh == nullptr) continue;
    const ValueId x = erf != nullptr ? over_sqrt2(editor, erf->inputs[0]) : gelu_tanh_argument(editor, tanh->inputs[0]);
    if (!same_as_output(editor, id, x)) continue;
    const Factors all = factors_of(editor, output, x);
    if (!is_about(all.number, 0.5) || !are_exactly(all.values, {x, factor})) continue;
    put_unary(editor, id, "Gelu", x,
              {Attribute{.name = "approximate", .value = std::string(erf != nullptr ? "none" : "tanh")}});
    return true;
  }
  return false;
}

/// x for which `value` is Clip(x + 3, 0, 6).
ValueId relu6_argument(const Editor& editor, ValueId value) {
  const Node* clip = editor.producer_op(value, "Clip");
  if (clip == nullptr || clip->inputs.size() != 3 || scalar_of(editor.graph(), clip->inputs[1]) != 0.0 ||
      scalar_of(editor.graph(), clip->inputs[2]) != 6.0)
    return {};
  const Node* sum = editor.producer_op(clip->inputs[0], "Add");
  return sum == nullptr ? ValueId{} : other_than(editor.graph(), *sum, 3.0);
}

/// x * clip(x + 3, 0, 6) / 6, and the same without the leading x.
bool hard_swish(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if ((!is_op(node, "Mul") && !is_op(node, "Div")) || !has_version(editor, 14)) return false;
  const ValueId output = node.outputs[0];
  for (const ValueId factor : factors_of(editor, output, {}).values) {
    const ValueId x = relu6_argument(editor, factor);
    if (!same_as_output(editor, id, x)) continue;
    const Factors all = factors_of(editor, output, x);
    if (!is_about(all.number, 1.0 / 6)) continue;
    if (are_exactly(all.values, {x, factor})) {
      put_unary(editor, id, "HardSwish", x);
      return true;
    }
    if (!are_exactly(all.values, {factor})) continue;
    put_unary(editor, id, "HardSigmoid", x,
              {Attribute{.name = "alpha", .value = 1.0F / 6}, Attribute{.name = "beta", .value = 0.5F}});
    return true;
  }
  return false;
}

/// x * HardSigmoid(x) with slope 1/6.
bool hard_swish_of_hard_sigmoid(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Mul") || !has_version(editor, 14)) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const Node* gate = editor.producer_op(node.inputs[side], "HardSigmoid");
    if (gate == nullptr || gate->inputs[0] != node.inputs[1 - side]) continue;
    if (!is_about(attribute_or<float>(*gate, "alpha", 0.2F), 1.0 / 6) ||
        attribute_or<float>(*gate, "beta", 0.5F) != 0.5F)
      continue;
    put_unary(editor, id, "HardSwish", gate->inputs[0]);
    return true;
  }
  return false;
}

/// log(exp(x) + 1).
bool softplus(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Log")) return false;
  const Node* exp = plus_one(editor, node.inputs[0], "Exp");
  if (exp == nullptr || !same_as_output(editor, id, exp->inputs[0])) return false;
  put_unary(editor, id, "Softplus", exp->inputs[0]);
  return true;
}

/// x * tanh(softplus(x)).
bool mish(Editor& editor, NodeId id) {
  const Node& node = editor.node(id);
  if (!is_op(node, "Mul") || !has_version(editor, 18)) return false;
  for (std::size_t side = 0; side < 2; ++side) {
    const Node* tanh = editor.producer_op(node.inputs[side], "Tanh");
    const Node* plus = tanh == nullptr ? nullptr : editor.producer_op(tanh->inputs[0], "Softplus");
    if (plus == nullptr || plus->inputs[0] != node.inputs[1 - side]) continue;
    put_unary(editor, id, "Mish", plus->inputs[0]);
    return true;
  }
  return false;
}

}  // namespace

Result<bool> recognise_activations(Graph& graph, PassContext&) {
  return apply_rules(graph, {gelu, hard_swish, hard_swish_of_hard_sigmoid, softplus, mish});
}

}  // namespace collage
