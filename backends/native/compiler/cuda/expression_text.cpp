#include "compiler/cuda/expression_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace collage::native::cuda {
namespace {

using Halide::Expr;
using Halide::Type;
using Halide::Internal::Call;
using Halide::Internal::IRNodeType;

/// Functions of Halide's library by the names that CUDA has for them, for float32; float64 is without the f.
const std::map<std::string, std::string, std::less<>>& library_functions() {
  static const std::map<std::string, std::string, std::less<>> names = {
      {"acos", "acosf"},   {"acosh", "acoshf"}, {"asin", "asinf"}, {"asinh", "asinhf"},    {"atan", "atanf"},
      {"atan2", "atan2f"}, {"atanh", "atanhf"}, {"ceil", "ceilf"}, {"cos", "cosf"},        {"cosh", "coshf"},
      {"exp", "expf"},     {"floor", "floorf"}, {"log", "logf"},   {"nearbyint", "rintf"}, {"pow", "powf"},
      {"round", "rintf"},  {"sin", "sinf"},     {"sinh", "sinhf"}, {"sqrt", "sqrtf"},      {"tan", "tanf"},
      {"tanh", "tanhf"},   {"trunc", "truncf"}};
  return names;
}

/// "exp" of "exp_f32"; the name itself when it ends otherwise.
std::string without_type(const std::string& name) {
  return name.ends_with("_f32") || name.ends_with("_f64") ? name.substr(0, name.size() - 4) : name;
}

std::string float_text(double value, bool is_single) {
  const char* const bits = is_single ? "__int_as_float(0x{:08x})" : "__longlong_as_double(0x{:016x})";
  if (!std::isfinite(value)) {
    if (std::isnan(value)) return fmt::format(fmt::runtime(bits), is_single ? 0x7fc00000ULL : 0x7ff8000000000000ULL);
    const std::uint64_t infinity = is_single ? 0x7f800000ULL : 0x7ff0000000000000ULL;
    return (value < 0 ? "-" : "") + fmt::format(fmt::runtime(bits), infinity);
  }
  return fmt::format("{}{:a}{}", std::signbit(value) ? "-" : "", std::abs(value), is_single ? "f" : "");
}

std::string signed_text(std::int64_t value, int bits) {
  if (bits < 64) {
    // The least number is no literal: its sign is an operator.
    if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
    return std::to_string(value);
  }
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
  return std::to_string(value) + "LL";
}

std::string in_brackets(const std::string& text) { return text.starts_with('-') ? '(' + text + ')' : text; }

}  // namespace

std::string type_text(const Type& type) {
  if (type.lanes() != 1 || type.is_bfloat()) throw CannotWrite("elements that no kernel computes with");
  if (type.is_bool()) return "bool";
  if (type.is_float() && type.bits() == 32) return "float";
  if (type.is_float() && type.bits() == 64) return "double";
  if (type.is_int()) return fmt::format("int{}", type.bits());
  if (type.is_uint()) return fmt::format("uint{}", type.bits());
  throw CannotWrite("elements that no kernel computes with");
}

std::string number_text(const Type& type, double value) {
  if (type.is_float()) return float_text(value, type.bits() == 32);
  return in_brackets(signed_text(static_cast<std::int64_t>(value), type.bits()));
}

std::string ExpressionWriter::named(const Type& type, const std::string& text) {
  const std::string name = fmt::format("t{}", next_++);
  statements_ += fmt::format("{}const {} {} = {};\n", indent_, type_text(type), name, text);
  return name;
}

std::string ExpressionWriter::write(const Expr& expression) {
  const Halide::Internal::IRNode* const node = expression.get();
  if (const auto found = written_.find(node); found != written_.end()) return found->second.second;
  std::string text = text_of(expression);
  const IRNodeType kind = expression.node_type();
  const bool is_atom = kind == IRNodeType::IntImm || kind == IRNodeType::UIntImm || kind == IRNodeType::FloatImm ||
                       kind == IRNodeType::Variable || kind == IRNodeType::Let;
  if (!is_atom) text = named(expression.type(), text);
  written_.emplace(node, std::pair(expression, text));
  return text;
}

std::string ExpressionWriter::infix(const Expr& a, const char* sign, const Expr& b) {
  const std::string left = write(a);
  return fmt::format("{} {} {}", left, sign, write(b));
}

std::string ExpressionWriter::function(const std::string& name, const std::vector<Expr>& operands) {
  std::vector<std::string> texts;
  for (const Expr& operand : operands) texts.push_back(write(operand));
  return fmt::format("{}({})", name, fmt::join(texts, ", "));
}

std::string ExpressionWriter::quotient(const Expr& whole, const Expr& a, const Expr& b, const char* sign,
                                       const char* otherwise) {
  if (whole.type().is_float()) {
    if (*sign == '%') throw CannotWrite("a remainder of floats");
    return infix(a, sign, b);
  }
  const auto divisor = Halide::Internal::as_const_int(b);
  const bool is_plain = whole.type().is_uint() ? Halide::Internal::is_const(b) && !Halide::Internal::is_const_zero(b)
                                               : divisor && *divisor > 0 && [&] {
                                                   const auto span = span_of(a, ranges_);
                                                   return span && span->least >= 0;
                                                 }();
  return is_plain ? infix(a, sign, b) : function(fmt::format("{}<{}>", otherwise, type_text(whole.type())), {a, b});
}

std::string ExpressionWriter::cast(const Type& to, const Expr& value) {
  const Type from = value.type();
  if (from.is_float() && to.is_int() && to.bits() >= 32)
    return function(to.bits() == 32 ? "whole32" : "whole64", {value});
  return fmt::format("{}({})", type_text(to), write(value));
}

std::string ExpressionWriter::reinterpreted(const Type& to, const Expr& value) {
  const Type from = value.type();
  if (to.is_float() && to.bits() == 32 && !from.is_float()) return function("__int_as_float", {value});
  if (from.is_float() && from.bits() == 32 && !to.is_float())
    return fmt::format("{}(__float_as_int({}))", type_text(to), write(value));
  if (to.is_float() && to.bits() == 64 && !from.is_float()) return function("__longlong_as_double", {value});
  if (from.is_float() && from.bits() == 64 && !to.is_float())
    return fmt::format("{}(__double_as_longlong({}))", type_text(to), write(value));
  return cast(to, value);
}

std::string ExpressionWriter::intrinsic(const Call& op) {
  const Type type = op.type;
  const auto& in = op.args;
  const auto binary = [&](const char* sign) { return infix(in[0], sign, in[1]); };
  if (op.is_intrinsic(Call::abs)) {
    if (type.is_float()) return function(type.bits() == 32 ? "fabsf" : "fabs", {in[0]});
    const std::string x = write(in[0]);
    return fmt::format("{}({} < 0 ? -{} : {})", type_text(type), x, x, x);
  }
  if (op.is_intrinsic(Call::bitwise_and)) return binary("&");
  if (op.is_intrinsic(Call::bitwise_or)) return binary("|");
  if (op.is_intrinsic(Call::bitwise_xor)) return binary("^");
  if (op.is_intrinsic(Call::bitwise_not)) return "~" + write(in[0]);
  if (op.is_intrinsic(Call::div_round_to_zero)) return binary("/");
  if (op.is_intrinsic(Call::mod_round_to_zero)) return binary("%");
  if (op.is_intrinsic(Call::shift_left)) return binary("<<");
  if (op.is_intrinsic(Call::shift_right)) return binary(">>");
  if (op.is_intrinsic(Call::round)) return function(type.bits() == 32 ? "rintf" : "rint", {in[0]});
  if (op.is_intrinsic(Call::strict_add)) return binary("+");
  if (op.is_intrinsic(Call::strict_sub)) return binary("-");
  if (op.is_intrinsic(Call::strict_mul)) return binary("*");
  if (op.is_intrinsic(Call::strict_div)) return binary("/");
  if (op.is_intrinsic(Call::strict_eq)) return binary("==");
  if (op.is_intrinsic(Call::strict_lt)) return binary("<");
  if (op.is_intrinsic(Call::strict_le)) return binary("<=");
  if (op.is_intrinsic(Call::strict_max)) return function("larger", in);
  if (op.is_intrinsic(Call::strict_min)) return function("smaller", in);
  if (op.is_intrinsic({Call::likely, Call::likely_if_innermost, Call::promise_clamped, Call::unsafe_promise_clamped}))
    return write(in[0]);
  if (op.is_intrinsic(Call::return_second)) return write(in[1]);
  if (op.is_intrinsic(Call::if_then_else) && in.size() == 3) {
    const std::string condition = write(in[0]);
    const std::string then = write(in[1]);
    return fmt::format("{} ? {} : {}", condition, then, write(in[2]));
  }
  const Expr plain = Halide::Internal::lower_intrinsic(&op);
  if (!plain.defined()) throw CannotWrite("the intrinsic " + op.name);
  return write(plain);
}

std::string ExpressionWriter::call(const Call& op) {
  if (op.call_type == Call::Halide || op.call_type == Call::Image) {
    std::vector<std::string> at;
    for (const Expr& index : op.args) at.push_back(write(index));
    return read_(op, at);
  }
  if (op.call_type == Call::PureIntrinsic || op.call_type == Call::Intrinsic) return intrinsic(op);
  const std::string name = without_type(op.name);
  if (name == "is_nan") return fmt::format("{0} != {0}", write(op.args[0]));
  if (name == "is_inf") return fmt::format("isinf({})", write(op.args[0]));
  if (name == "is_finite") return fmt::format("isfinite({})", write(op.args[0]));
  if (name == "fast_inverse") return fmt::format("1.0f / {}", write(op.args[0]));
  if (name == "fast_inverse_sqrt") return function("rsqrtf", op.args);
  const auto found = library_functions().find(name);
  if (found == library_functions().end()) throw CannotWrite("the function " + op.name);
  const bool is_single = op.type.bits() == 32;
  return function(is_single ? found->second : found->second.substr(0, found->second.size() - 1), op.args);
}

std::string ExpressionWriter::text_of(const Expr& expression) {
  namespace ir = Halide::Internal;
  const Type type = expression.type();
  if (const auto* op = expression.as<ir::IntImm>()) return in_brackets(signed_text(op->value, type.bits()));
  if (const auto* op = expression.as<ir::UIntImm>()) {
    if (type.is_bool()) return op->value != 0 ? "true" : "false";
    return std::to_string(op->value) + (type.bits() == 64 ? "ULL" : "U");
  }
  if (const auto* op = expression.as<ir::FloatImm>()) {
    (void)type_text(type);
    return in_brackets(float_text(op->value, type.bits() == 32));
  }
  if (const auto* op = expression.as<ir::Variable>()) {
    const auto found = names_.find(op->name);
    if (found == names_.end()) throw CannotWrite("the variable " + op->name);
    return found->second;
  }
  if (const auto* op = expression.as<ir::Let>()) {
    names_[op->name] = write(op->value);
    return write(op->body);
  }
  if (const auto* op = expression.as<ir::Cast>()) return cast(op->type, op->value);
  if (const auto* op = expression.as<ir::Reinterpret>()) return reinterpreted(op->type, op->value);
  if (const auto* op = expression.as<ir::Add>()) return infix(op->a, "+", op->b);
  if (const auto* op = expression.as<ir::Sub>()) return infix(op->a, "-", op->b);
  if (const auto* op = expression.as<ir::Mul>()) return infix(op->a, "*", op->b);
  if (const auto* op = expression.as<ir::Div>()) return quotient(expression, op->a, op->b, "/", "divided");
  if (const auto* op = expression.as<ir::Mod>()) return quotient(expression, op->a, op->b, "%", "left_over");
  if (const auto* op = expression.as<ir::Max>()) return function("larger<" + type_text(type) + '>', {op->a, op->b});
  if (const auto* op = expression.as<ir::Min>()) return function("smaller<" + type_text(type) + '>', {op->a, op->b});
  if (const auto* op = expression.as<ir::EQ>()) return infix(op->a, "==", op->b);
  if (const auto* op = expression.as<ir::NE>()) return infix(op->a, "!=", op->b);
  if (const auto* op = expression.as<ir::LT>()) return infix(op->a, "<", op->b);
  if (const auto* op = expression.as<ir::LE>()) return infix(op->a, "<=", op->b);
  if (const auto* op = expression.as<ir::GT>()) return infix(op->a, ">", op->b);
  if (const auto* op = expression.as<ir::GE>()) return infix(op->a, ">=", op->b);
  if (const auto* op = expression.as<ir::And>()) return infix(op->a, "&&", op->b);
  if (const auto* op = expression.as<ir::Or>()) return infix(op->a, "||", op->b);
  if (const auto* op = expression.as<ir::Not>()) return "!" + write(op->a);
  if (const auto* op = expression.as<ir::Select>()) {
    const std::string condition = write(op->condition);
    const std::string then = write(op->true_value);
    return fmt::format("{} ? {} : {}", condition, then, write(op->false_value));
  }
  if (const auto* op = expression.as<ir::Call>()) return call(*op);
  throw CannotWrite("an expression that kernels do not have");
}

}  // namespace collage::native::cuda
