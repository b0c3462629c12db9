// Chooses element-wise loops; the loops of all types but f32.
#include "elementwise/element_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>

namespace collage::host {
namespace {

/// Integer arithmetic wraps, as it does in every library we are compared with.
template <class T, class Operation>
T wrapped(T a, T b, Operation operation) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::uint64_t;
    return static_cast<T>(operation(static_cast<Wide>(a), static_cast<Wide>(b)));
  } else {
    return operation(a, b);
  }
}

/// Division that is defined for all operands: by zero gives zero, the least number by -1 wraps.
template <class T>
T divided(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return wrapped<T>(0, a, [](auto x, auto y) { return x - y; });
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

/// ONNX Mod with fmod = 0: the sign of the divisor, as in Python.
template <class T>
T floor_modulo(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
    const T rest = static_cast<T>(a % b);
    return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
  } else {
    const T rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

template <class T>
T truncated_modulo(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? T{0} : static_cast<T>(a % b);
  } else {
    return std::fmod(a, b);
  }
}

template <class In, class Out, auto operation>
void unary(void* out, const void* const* in, const double*, std::int64_t n) {
  const auto* a = static_cast<const In*>(in[0]);
  auto* y = static_cast<Out*>(out);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(operation(a[i]));
}
template <class In, class Out, auto operation>
void binary(void* out, const void* const* in, const double*, std::int64_t n) {
  const auto* a = static_cast<const In*>(in[0]);
  const auto* b = static_cast<const In*>(in[1]);
  auto* y = static_cast<Out*>(out);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(operation(a[i], b[i]));
}
template <class T>
void clip(void* out, const void* const* in, const double* params, std::int64_t n) {
  const auto* a = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(a[i]);
    y[i] = x > params[1] ? static_cast<T>(params[1]) : x < params[0] ? static_cast<T>(params[0]) : a[i];
  }
}
template <class T>
void select(void* out, const void* const* in, const double*, std::int64_t n) {
  const auto* condition = static_cast<const std::uint8_t*>(in[0]);
  const auto* a = static_cast<const T*>(in[1]);
  const auto* b = static_cast<const T*>(in[2]);
  auto* y = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
}

struct Row {
  std::string_view name;
  ElementLoop loop;
};

template <std::size_t N>
ElementLoop find_row(const std::array<Row, N>& rows, std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.loop;
  return nullptr;
}

template <class T>
ElementLoop find_number_loop(std::string_view name) {
  static constexpr std::array kRows = {
      Row{"Add", binary<T, T, [](T a, T b) { return wrapped<T>(a, b, [](auto x, auto y) { return x + y; }); }>},
      Row{"Sub", binary<T, T, [](T a, T b) { return wrapped<T>(a, b, [](auto x, auto y) { return x - y; }); }>},
      Row{"Mul", binary<T, T, [](T a, T b) { return wrapped<T>(a, b, [](auto x, auto y) { return x * y; }); }>},
      Row{"Div", binary<T, T, [](T a, T b) { return divided<T>(a, b); }>},
      Row{"Min", binary<T, T, [](T a, T b) { return a < b ? a : b; }>},
      Row{"Max", binary<T, T, [](T a, T b) { return b < a ? a : b; }>},
      Row{"Mod", binary<T, T, [](T a, T b) { return floor_modulo<T>(a, b); }>},
      Row{"Fmod", binary<T, T, [](T a, T b) { return truncated_modulo<T>(a, b); }>},
      Row{"Equal", binary<T, std::uint8_t, [](T a, T b) { return a == b; }>},
      Row{"Less", binary<T, std::uint8_t, [](T a, T b) { return a < b; }>},
      Row{"LessOrEqual", binary<T, std::uint8_t, [](T a, T b) { return a <= b; }>},
      Row{"Greater", binary<T, std::uint8_t, [](T a, T b) { return b < a; }>},
      Row{"GreaterOrEqual", binary<T, std::uint8_t, [](T a, T b) { return b <= a; }>},
      Row{"Relu", unary<T, T, [](T a) { return a < T{0} ? T{0} : a; }>},
      Row{"Neg", unary<T, T, [](T a) { return wrapped<T>(T{0}, a, [](auto x, auto y) { return x - y; }); }>},
      Row{"Abs",
          unary<T, T, [](T a) { return a < T{0} ? wrapped<T>(T{0}, a, [](auto x, auto y) { return x - y; }) : a; }>},
      Row{"Sign", unary<T, T, [](T a) { return (T{0} < a) - (a < T{0}); }>},
      Row{"Square", unary<T, T, [](T a) { return wrapped<T>(a, a, [](auto x, auto y) { return x * y; }); }>},
      Row{"Clip", clip<T>},
  };
  return find_row(kRows, name);
}

template <class T>
ElementLoop find_bit_loop(std::string_view name) {
  static constexpr std::array kRows = {
      Row{"BitwiseAnd", binary<T, T, [](T a, T b) { return static_cast<T>(a & b); }>},
      Row{"BitwiseOr", binary<T, T, [](T a, T b) { return static_cast<T>(a | b); }>},
      Row{"BitwiseXor", binary<T, T, [](T a, T b) { return static_cast<T>(a ^ b); }>},
      Row{"BitwiseNot", unary<T, T, [](T a) { return static_cast<T>(~a); }>},
  };
  const ElementLoop loop = find_row(kRows, name);
  return loop != nullptr ? loop : find_number_loop<T>(name);
}

ElementLoop find_double_loop(std::string_view name) {
  static constexpr std::array kRows = {
      Row{"Sqrt", unary<double, double, [](double a) { return std::sqrt(a); }>},
      Row{"Exp", unary<double, double, [](double a) { return std::exp(a); }>},
      Row{"Log", unary<double, double, [](double a) { return std::log(a); }>},
      Row{"Floor", unary<double, double, [](double a) { return std::floor(a); }>},
      Row{"Ceil", unary<double, double, [](double a) { return std::ceil(a); }>},
      Row{"Round", unary<double, double, [](double a) { return std::nearbyint(a); }>},
      Row{"Reciprocal", unary<double, double, [](double a) { return 1.0 / a; }>},
      Row{"Tanh", unary<double, double, [](double a) { return std::tanh(a); }>},
      Row{"Erf", unary<double, double, [](double a) { return std::erf(a); }>},
      Row{"Sigmoid", unary<double, double, [](double a) { return 1.0 / (1.0 + std::exp(-a)); }>},
      Row{"Sin", unary<double, double, [](double a) { return std::sin(a); }>},
      Row{"Cos", unary<double, double, [](double a) { return std::cos(a); }>},
      Row{"Pow", binary<double, double, [](double a, double b) { return std::pow(a, b); }>},
      Row{"IsNaN", unary<double, std::uint8_t, [](double a) { return std::isnan(a); }>},
  };
  const ElementLoop loop = find_row(kRows, name);
  return loop != nullptr ? loop : find_number_loop<double>(name);
}

using Byte = std::uint8_t;

ElementLoop find_bool_loop(std::string_view name) {
  static constexpr std::array kRows = {
      Row{"And", binary<Byte, Byte, [](Byte a, Byte b) { return a != 0 && b != 0; }>},
      Row{"Or", binary<Byte, Byte, [](Byte a, Byte b) { return a != 0 || b != 0; }>},
      Row{"Xor", binary<Byte, Byte, [](Byte a, Byte b) { return (a != 0) != (b != 0); }>},
      Row{"Equal", binary<Byte, Byte, [](Byte a, Byte b) { return (a != 0) == (b != 0); }>},
      Row{"Not", unary<Byte, Byte, [](Byte a) { return a == 0; }>},
  };
  return find_row(kRows, name);
}

/// Where moves elements of any type of one size.
ElementLoop find_select_loop(ElementType type) {
  switch (bits_of(type)) {
    case 8:
      return select<std::uint8_t>;
    case 16:
      return select<std::uint16_t>;
    case 32:
      return select<std::uint32_t>;
    case 64:
      return select<std::uint64_t>;
    default:
      return nullptr;
  }
}

ElementLoop find_float_loop(std::string_view operation) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return find_float_loop_avx512(operation);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return find_float_loop_avx2(operation);
  return find_float_loop_baseline(operation);
}

/// Of the loops of find_float_loop and find_other_loop: they write no other.
ElementType result_type(std::string_view operation, ElementType from) {
  constexpr std::array<std::string_view, 7> kPredicates = {"Equal",          "Less",  "LessOrEqual", "Greater",
                                                           "GreaterOrEqual", "IsNaN", "IsInf"};
  return std::ranges::find(kPredicates, operation) != kPredicates.end() ? ElementType::kBool : from;
}

}  // namespace

ElementLoop find_other_loop(std::string_view operation, ElementType from) {
  switch (from) {
    case ElementType::kBool:
      return find_bool_loop(operation);
    case ElementType::kFloat64:
      return find_double_loop(operation);
    case ElementType::kInt8:
      return find_bit_loop<std::int8_t>(operation);
    case ElementType::kInt16:
      return find_bit_loop<std::int16_t>(operation);
    case ElementType::kInt32:
      return find_bit_loop<std::int32_t>(operation);
    case ElementType::kInt64:
      return find_bit_loop<std::int64_t>(operation);
    case ElementType::kUint8:
      return find_bit_loop<std::uint8_t>(operation);
    case ElementType::kUint16:
      return find_bit_loop<std::uint16_t>(operation);
    case ElementType::kUint32:
      return find_bit_loop<std::uint32_t>(operation);
    case ElementType::kUint64:
      return find_bit_loop<std::uint64_t>(operation);
    default:
      return nullptr;
  }
}

constexpr std::string_view kToBfloat = "ToBfloat";
constexpr std::string_view kFromBfloat = "FromBfloat";

ElementLoop find_element_loop(std::string_view operation, ElementType from, ElementType to) {
  if (operation == kToBfloat || operation == kFromBfloat) return nullptr;  // a Cast says what it casts
  if (operation == "Cast" && from == ElementType::kFloat32 && to == ElementType::kBfloat16)
    return find_float_loop(kToBfloat);
  if (operation == "Cast" && from == ElementType::kBfloat16 && to == ElementType::kFloat32)
    return find_float_loop(kFromBfloat);
  if (operation == "Cast") return find_cast_loop(from, to);
  if (operation == "Where") return find_select_loop(to);
  if (to != result_type(operation, from)) return nullptr;
  return from == ElementType::kFloat32 ? find_float_loop(operation) : find_other_loop(operation, from);
}

}  // namespace collage::host
