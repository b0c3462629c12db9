// Casts between number types. Out-of-range values of integers wrap; floats beyond an integer's range and NaN give what
// ONNX Runtime gives on x86-64 (docs/BORDERS.md; ONNX leaves both open).
#include <limits>
#include <type_traits>

#include "base/narrow_float.h"
#include "elementwise/element_loops.h"

namespace collage::host {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t byte;
};

/// The number behind an element: float for the 16-bit types, the element itself for the others.
template <class T>
auto number_of(T element) {
  if constexpr (std::is_same_v<T, Half>) {
    return from_half(element.bits);
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return from_bfloat(element.bits);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<std::uint8_t>(element.byte != 0);
  } else {
    return element;
  }
}

/// Toward zero; what does not fit and NaN give the least number, as x86 does.
template <class To, class Number>
To truncated(Number number) {
  constexpr auto low = static_cast<Number>(std::numeric_limits<To>::min());
  return number >= low && number < -low ? static_cast<To>(number) : std::numeric_limits<To>::min();
}

/// Toward zero, as ONNX Runtime does: narrow integers keep the low bits of a wider one.
template <class To, class Number>
To whole_of(Number number) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    constexpr auto half = static_cast<Number>(0x1p63);
    constexpr std::uint64_t top = std::uint64_t{1} << 63U;
    if (number >= half) return static_cast<std::uint64_t>(truncated<std::int64_t>(number - half)) ^ top;
    return static_cast<std::uint64_t>(truncated<std::int64_t>(number));
  } else if constexpr (std::is_same_v<To, std::int64_t> || std::is_same_v<To, std::uint32_t>) {
    return static_cast<To>(truncated<std::int64_t>(number));
  } else {
    return static_cast<To>(truncated<std::int32_t>(number));
  }
}

template <class To, class Number>
To element_of(Number number) {
  if constexpr (std::is_same_v<To, Half>) {
    return {to_half(static_cast<float>(number))};
  } else if constexpr (std::is_same_v<To, Bfloat>) {
    return {to_bfloat(static_cast<float>(number))};
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<std::uint8_t>(number != Number{0})};
  } else if constexpr (std::is_floating_point_v<Number> && std::is_integral_v<To>) {
    return whole_of<To>(number);
  } else {
    return static_cast<To>(number);
  }
}

template <class From, class To>
void cast(void* out, const void* const* in, const double*, std::int64_t n) {
  const auto* a = static_cast<const From*>(in[0]);
  auto* y = static_cast<To*>(out);
  for (std::int64_t i = 0; i < n; ++i) y[i] = element_of<To>(number_of(a[i]));
}

/// Calls `use` with an element of the C++ type behind `type`; null for types that are not cast here.
template <class Use>
ElementLoop with_type(ElementType type, Use use) {
  switch (type) {
    case ElementType::kFloat32:
      return use(float{});
    case ElementType::kFloat64:
      return use(double{});
    case ElementType::kFloat16:
      return use(Half{});
    case ElementType::kBfloat16:
      return use(Bfloat{});
    case ElementType::kBool:
      return use(Bool{});
    case ElementType::kInt8:
      return use(std::int8_t{});
    case ElementType::kInt16:
      return use(std::int16_t{});
    case ElementType::kInt32:
      return use(std::int32_t{});
    case ElementType::kInt64:
      return use(std::int64_t{});
    case ElementType::kUint8:
      return use(std::uint8_t{});
    case ElementType::kUint16:
      return use(std::uint16_t{});
    case ElementType::kUint32:
      return use(std::uint32_t{});
    case ElementType::kUint64:
      return use(std::uint64_t{});
    default:
      return nullptr;
  }
}

}  // namespace

ElementLoop find_cast_loop(ElementType from, ElementType to) {
  return with_type(from, [to]<class From>(From) {
    return with_type(to, []<class To>(To) -> ElementLoop { return cast<From, To>; });
  });
}

}  // namespace collage::host
