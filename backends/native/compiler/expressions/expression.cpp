#include "compiler/expressions/expression.h"

#include <algorithm>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include "compiler/expressions/elementary_functions.h"

namespace collage::native {
namespace {

using Halide::cast;
using Halide::Expr;
using Halide::select;

/// One node at one place.
struct Place {
  const Graph& graph;
  const Node& node;
  const std::vector<Expr>& in;
  const Rounding& rounding;

  [[nodiscard]] const Expr& x() const { return in[0]; }
  [[nodiscard]] const Expr& y() const { return in[1]; }
  [[nodiscard]] bool has(std::size_t i) const { return i < in.size() && in[i].defined(); }
  [[nodiscard]] float number(std::string_view name, float otherwise) const {
    return attribute_or<float>(node, name, otherwise);
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    return attribute_or<std::int64_t>(node, name, otherwise);
  }
  [[nodiscard]] ElementType result() const { return graph.value(node.outputs[0]).type.element; }
};

Expr zero_of(const Expr& x) { return Halide::Internal::make_zero(x.type()); }
Expr one_of(const Expr& x) { return Halide::Internal::make_one(x.type()); }

/// Halide's autoscheduler does not take a condition that decides nothing.
Expr chosen(const Place& at) {
  const bool is_free = at.node.inputs[1] == at.node.inputs[2];
  return is_free ? at.in[1] : select(at.x(), at.in[1], at.in[2]);
}

Expr gelu(const Place& at) {
  const Expr& x = at.x();
  if (attribute_or<std::string>(at.node, "approximate", "none") == "tanh")
    return f32(0.5) * x * (f32(1) + tanh_of(f32(0.7978845608028654) * (x + f32(0.044715) * x * x * x)));
  if (at.rounding.has_16_bits) return x * normal_distribution_near(x);
  return f32(0.5) * x * (f32(1) + Halide::erf(x * f32(std::numbers::sqrt2 / 2)));
}

Expr erf(const Place& at) {
  if (!at.rounding.has_16_bits) return Halide::erf(at.x());
  const Expr near = f32(2) * normal_distribution_near(at.x() * f32(std::numbers::sqrt2)) - f32(1);
  return select(Halide::is_nan(at.x()), at.x(), near);
}

Expr divided(const Expr& a, const Expr& b) {
  return a.type().is_float() ? a / b
                             : Halide::Internal::Call::make(a.type(), Halide::Internal::Call::div_round_to_zero, {a, b},
                                                            Halide::Internal::Call::PureIntrinsic);
}

/// The remainder with the sign of the divisor, or, with fmod, of the dividend.
Expr modulo(const Place& at) {
  const Expr& a = at.x();
  const Expr& b = at.y();
  const bool of_dividend = at.integer("fmod", 0) != 0;
  if (a.type().is_float()) {
    const Expr quotient = Halide::trunc(a / b);
    return a - quotient * b;
  }
  const Expr rest = a - divided(a, b) * b;
  if (of_dividend || a.type().is_uint()) return rest;
  return select(rest != 0 && (rest < 0) != (b < 0), rest + b, rest);
}

Expr power(const Place& at) {
  const Expr& x = at.x();
  if (const Tensor* exponent = constant_of(at.graph, at.node.inputs[1]); exponent != nullptr && exponent->size() == 1) {
    const auto wide = floats_of(*exponent);
    const double e = wide ? wide->front() : static_cast<double>(integers_of(*exponent)->front());
    if (e == 1) return x;
    if (e == 2) return x * x;
    if (e == 3) return x * x * x;
    if (e == 4) return (x * x) * (x * x);
    if (x.type().is_float() && e == 0.5) return Halide::sqrt(x);
    if (x.type().is_float() && e == -1) return one_of(x) / x;
    if (x.type().is_float() && e == -0.5) return one_of(x) / Halide::sqrt(x);
  }
  return Halide::pow(x, cast(x.type(), at.y()));
}

Expr clipped(const Place& at) {
  Expr result = at.x();
  if (at.has(1)) result = Halide::max(result, at.in[1]);
  if (at.has(2)) result = Halide::min(result, at.in[2]);
  return result;
}

/// Toward zero; what does not fit and NaN give the least number, as x86 does. Halide would drop a bare cast inside
/// another one, and with it what the inner one gives.
Expr truncated(const Expr& x, const Halide::Type& to) {
  const Expr least = cast(x.type(), to.min());
  return select(x >= least && x < -least, cast(to, x), to.min());
}

/// As ONNX Runtime does it on x86-64: through a signed integer, of which other types keep the low bits.
Expr whole_of(const Expr& x, const Halide::Type& to) {
  if (to == Halide::Int(32) || to == Halide::Int(64)) return cast(to, x);
  const Halide::Type wide = Halide::Int(to.bits() > 32 || to == Halide::UInt(32) ? 64 : 32);
  const Expr low_bits = cast(to, truncated(x, wide));
  if (to != Halide::UInt(64)) return low_bits;
  const Expr half = cast(x.type(), Expr(0x1p63));
  // Halide takes "at least" for "not less", which NaN is; the half itself is the same number on both ways.
  return select(x > half, cast(to, truncated(x - half, wide)) ^ (cast(to, 1) << 63), low_bits);
}

Expr converted(const Expr& x, ElementType to) {
  if (to == ElementType::kBool) {
    if (x.type().is_bool()) return x;
    return x.type().is_float() ? x != zero_of(x) || Halide::is_nan(x) : x != zero_of(x);
  }
  const Halide::Type type = computed_type(to);
  return x.type().is_float() && !type.is_float() ? whole_of(x, type) : cast(type, x);
}

Expr folded(const Place& at, Expr (*join)(Expr, Expr)) {
  Expr result = at.x();
  for (std::size_t i = 1; i < at.in.size(); ++i) result = join(result, at.in[i]);
  return result;
}

Expr hard_sigmoid(const Expr& x, float alpha, float beta) {
  return Halide::clamp(f32(alpha) * x + f32(beta), f32(0), f32(1));
}

Expr sign_of(const Expr& x) {
  return select(x > zero_of(x), one_of(x), x < zero_of(x), zero_of(x) - one_of(x), zero_of(x));
}

Expr shrunk(const Place& at) {
  const float limit = at.number("lambd", 0.5F);
  const Expr bias = f32(at.number("bias", 0.F));
  return select(at.x() < f32(-limit), at.x() + bias, at.x() > f32(limit), at.x() - bias, f32(0));
}

using Rule = std::function<Expr(const Place&)>;

Rule of_float(Expr (*function)(const Expr&)) {
  return [function](const Place& at) { return function(at.x()); };
}

/// Operators on floats alone; the others take every computable type.
const std::map<std::string, Rule, std::less<>>& float_rules() {
  static const std::map<std::string, Rule, std::less<>> rules = {
      {"Acos", of_float(acos_of)},
      {"Acosh", of_float(acosh_of)},
      {"Asin", of_float(asin_of)},
      {"Asinh", of_float(asinh_of)},
      {"Atan", of_float(atan_of)},
      {"Atanh", of_float(atanh_of)},
      {"Ceil", [](const Place& at) { return Halide::ceil(at.x()); }},
      {"Celu",
       [](const Place& at) {
         const float alpha = at.number("alpha", 1.F);
         return Halide::max(at.x(), f32(0)) + Halide::min(f32(alpha) * expm1_of(at.x() / f32(alpha)), f32(0));
       }},
      {"Cos", of_float(cos_of)},
      {"Cosh", of_float(cosh_of)},
      {"Elu",
       [](const Place& at) {
         return select(at.x() < f32(0), f32(at.number("alpha", 1.F)) * expm1_of(at.x()), at.x());
       }},
      {"Erf", erf},
      {"Exp", [](const Place& at) { return Halide::exp(at.x()); }},
      {"Floor", [](const Place& at) { return Halide::floor(at.x()); }},
      {"Gelu", gelu},
      {"HardSigmoid",
       [](const Place& at) { return hard_sigmoid(at.x(), at.number("alpha", 0.2F), at.number("beta", 0.5F)); }},
      {"HardSwish", [](const Place& at) { return at.x() * hard_sigmoid(at.x(), 1.F / 6.F, 0.5F); }},
      {"IsNaN", [](const Place& at) { return Halide::is_nan(at.x()); }},
      {"LeakyRelu",
       [](const Place& at) { return select(at.x() < f32(0), f32(at.number("alpha", 0.01F)) * at.x(), at.x()); }},
      {"Log", [](const Place& at) { return Halide::log(at.x()); }},
      {"Mish", [](const Place& at) { return at.x() * tanh_of(softplus(at.x())); }},
      {"PRelu", [](const Place& at) { return select(at.x() < f32(0), at.y() * at.x(), at.x()); }},
      {"Reciprocal", [](const Place& at) { return f32(1) / at.x(); }},
      {"Round", [](const Place& at) { return Halide::round(at.x()); }},
      {"Selu",
       [](const Place& at) {
         const float alpha = at.number("alpha", 1.67326319217681884765625F);
         const float gamma = at.number("gamma", 1.05070102214813232421875F);
         return f32(gamma) * select(at.x() > f32(0), at.x(), f32(alpha) * expm1_of(at.x()));
       }},
      {"Shrink", shrunk},
      {"Sigmoid", of_float(sigmoid)},
      {"Sin", of_float(sin_of)},
      {"Sinh", of_float(sinh_of)},
      {"Softplus", of_float(softplus)},
      {"Softsign", [](const Place& at) { return at.x() / (f32(1) + Halide::abs(at.x())); }},
      {"Sqrt", [](const Place& at) { return Halide::sqrt(at.x()); }},
      {"Swish", [](const Place& at) { return at.x() * sigmoid(f32(at.number("alpha", 1.F)) * at.x()); }},
      {"Tan", of_float(tan_of)},
      {"Tanh", of_float(tanh_of)},
      {"ThresholdedRelu",
       [](const Place& at) { return select(at.x() > f32(at.number("alpha", 1.F)), at.x(), f32(0)); }}};
  return rules;
}

const std::map<std::string, Rule, std::less<>>& common_rules() {
  static const std::map<std::string, Rule, std::less<>> rules = {
      {"Abs", [](const Place& at) { return at.x().type().is_uint() ? at.x() : cast(at.x().type(), abs(at.x())); }},
      {"Add", [](const Place& at) { return at.x() + at.y(); }},
      {"And", [](const Place& at) { return at.x() && at.y(); }},
      {"BitwiseAnd", [](const Place& at) { return at.x() & at.y(); }},
      {"BitwiseNot", [](const Place& at) { return ~at.x(); }},
      {"BitwiseOr", [](const Place& at) { return at.x() | at.y(); }},
      {"BitwiseXor", [](const Place& at) { return at.x() ^ at.y(); }},
      {"Cast", [](const Place& at) { return converted(at.x(), at.result()); }},
      {"Clip", clipped},
      {"DequantizeLinear", [](const Place& at) { return dequantised(at.x(), at.y(), at.has(2) ? at.in[2] : Expr()); }},
      {"Div", [](const Place& at) { return divided(at.x(), at.y()); }},
      {"Equal", [](const Place& at) { return at.x().type().is_bool() ? !(at.x() != at.y()) : at.x() == at.y(); }},
      {"Greater", [](const Place& at) { return at.x() > at.y(); }},
      {"GreaterOrEqual", [](const Place& at) { return at.x() >= at.y(); }},
      {"Identity", [](const Place& at) { return at.x(); }},
      {"Less", [](const Place& at) { return at.x() < at.y(); }},
      {"LessOrEqual", [](const Place& at) { return at.x() <= at.y(); }},
      {"Max", [](const Place& at) { return folded(at, [](Expr a, Expr b) { return Halide::max(a, b); }); }},
      {"Mean",
       [](const Place& at) {
         return folded(at, [](Expr a, Expr b) { return a + b; }) / f32(static_cast<double>(at.in.size()));
       }},
      {"Min", [](const Place& at) { return folded(at, [](Expr a, Expr b) { return Halide::min(a, b); }); }},
      {"Mod", modulo},
      {"Mul", [](const Place& at) { return at.x() * at.y(); }},
      {"Neg", [](const Place& at) { return -at.x(); }},
      {"Not", [](const Place& at) { return !at.x(); }},
      {"Or", [](const Place& at) { return at.x() || at.y(); }},
      {"Pow", power},
      {"QuantizeLinear",
       [](const Place& at) {
         return quantised(at.x(), at.y(), at.has(2) ? at.in[2] : Expr(), at.result(), at.rounding.quotient);
       }},
      {"Relu", [](const Place& at) { return Halide::max(at.x(), zero_of(at.x())); }},
      {"Sign",
       [](const Place& at) { return at.x().type().is_uint() ? Halide::min(at.x(), one_of(at.x())) : sign_of(at.x()); }},
      {"Sub", [](const Place& at) { return at.x() - at.y(); }},
      {"Sum", [](const Place& at) { return folded(at, [](Expr a, Expr b) { return a + b; }); }},
      {"Where", chosen},
      {"Xor", [](const Place& at) { return at.x() != at.y(); }}};
  return rules;
}

const Rule* rule_of(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  if (const auto found = float_rules().find(node.op_type); found != float_rules().end()) return &found->second;
  if (const auto found = common_rules().find(node.op_type); found != common_rules().end()) return &found->second;
  return nullptr;
}

bool is_double(const Graph& graph, ValueId id) { return graph.value(id).type.element == ElementType::kFloat64; }

}  // namespace

Halide::Type computed_type(ElementType type) { return type == ElementType::kBool ? Halide::Bool() : stored_type(type); }

Halide::Type stored_type(ElementType type) {
  const int bits = bits_of(type);
  if (type == ElementType::kBool) return Halide::UInt(8);
  if (type == ElementType::kBfloat16) return Halide::BFloat(bits);
  if (is_float(type)) return Halide::Float(bits);
  const bool is_signed = type == ElementType::kInt8 || type == ElementType::kInt16 || type == ElementType::kInt32 ||
                         type == ElementType::kInt64;
  return is_signed ? Halide::Int(bits) : Halide::UInt(bits);
}

bool is_computable(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kFloat64:
    case ElementType::kBool:
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kUint8:
    case ElementType::kUint16:
    case ElementType::kUint32:
    case ElementType::kUint64:
      return true;
    default:
      return false;
  }
}

bool is_element_node(const Graph& graph, const Node& node) {
  if (rule_of(node) == nullptr || node.outputs.size() != 1) return false;
  const bool is_float_rule = float_rules().contains(node.op_type);
  for (const ValueId id : node.inputs) {
    if (!id.valid()) continue;
    const ElementType type = graph.value(id).type.element;
    if (!is_computable(type) || (is_float_rule && type != ElementType::kFloat32)) return false;
  }
  if (!is_computable(graph.value(node.outputs[0]).type.element)) return false;
  // Vector forms of these exist for single precision only; a float remainder by the divisor's sign is none of ONNX.
  if (node.op_type == "Pow") return graph.value(node.inputs[0]).type.element == ElementType::kFloat32;
  if (node.op_type == "Mod" && is_float(graph.value(node.inputs[0]).type.element))
    return attribute_or<std::int64_t>(node, "fmod", 0) != 0 && !is_double(graph, node.inputs[0]);
  if (node.op_type == "Mean") return graph.value(node.outputs[0]).type.element == ElementType::kFloat32;
  if (node.op_type == "QuantizeLinear" || node.op_type == "DequantizeLinear") return is_quantiser(graph, node);
  return true;
}

std::vector<std::string> element_operators() {
  std::vector<std::string> names;
  for (const auto* rules : {&float_rules(), &common_rules()})
    for (const auto& [name, rule] : *rules) names.emplace_back(name);
  std::ranges::sort(names);
  return names;
}

Halide::Expr element_expression(const Graph& graph, const Node& node, const std::vector<Halide::Expr>& operands,
                                const Rounding& rounding) {
  const Rule* rule = rule_of(node);
  COLLAGE_CHECK(rule != nullptr, node.op_type);
  return (*rule)({graph, node, operands, rounding});
}

}  // namespace collage::native
