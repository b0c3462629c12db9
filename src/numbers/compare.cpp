// How: blocks of elements are compared by a branch-free loop in single precision with a slightly tighter bound, which
//       the compiler vectorises. A block that fails there (an error, a NaN, an infinity, an element close to the bound)
//       is compared again in double precision, element by element; only that result counts.
#include "numbers/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "base/narrow_float.h"
#include "base/shorten.h"

namespace collage {
namespace {

constexpr std::size_t kBlock = 1024;
/// Makes the single-precision loop refuse whatever rounding could have let through.
constexpr double kTighter = 1.0 - 1e-5;
/// Characters of a wrong string in a message.
constexpr std::size_t kShown = 60;

struct Bound {
  double absolute = 0;
  double relative = 0;
};

/// Elements of a float tensor as a span of float or double, 16-bit ones widened block by block.
struct HalfSource {
  const std::byte* data;
  bool is_bfloat;
  std::span<const float> block(std::size_t begin, std::size_t count, std::array<float, kBlock>& room) const {
    const auto* in = reinterpret_cast<const std::uint16_t*>(data) + begin;
    if (is_bfloat)
      for (std::size_t i = 0; i < count; ++i) room[i] = from_bfloat(in[i]);
    else
      for (std::size_t i = 0; i < count; ++i) room[i] = from_half(in[i]);
    return {room.data(), count};
  }
};
template <class T>
struct PlainSource {
  const std::byte* data;
  std::span<const T> block(std::size_t begin, std::size_t count, std::array<T, kBlock>&) const {
    return {reinterpret_cast<const T*>(data) + begin, count};
  }
};

template <class T>
double largest_finite(std::span<const T> values) {
  T largest = 0;
  for (const T value : values) {
    const T magnitude = std::abs(value);
    const T finite = magnitude <= std::numeric_limits<T>::max() ? magnitude : T{0};
    largest = finite > largest ? finite : largest;
  }
  return static_cast<double>(largest);
}

/// True when every element surely passes; adds to the maxima only then.
template <class T>
bool quick_pass(std::span<const T> seen, std::span<const T> expected, std::span<const T> sizes, Bound bound,
                Comparison& result) {
  const T absolute = static_cast<T>(bound.absolute * kTighter);
  const T relative = static_cast<T>(bound.relative * kTighter);
  T max_abs = 0;
  T max_rel = 0;
  int bad = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const T magnitude = std::abs(expected[i]);
    const T difference = std::abs(seen[i] - expected[i]);
    const T allowed = absolute + relative * std::max(std::abs(sizes[i]), magnitude);
    bad |= static_cast<int>(!(difference <= allowed)) | static_cast<int>(!(allowed <= std::numeric_limits<T>::max()));
    const T ratio = magnitude > 0 ? difference / magnitude : T{0};
    max_abs = difference > max_abs ? difference : max_abs;
    max_rel = ratio > max_rel ? ratio : max_rel;
  }
  if (bad != 0) return false;
  result.max_abs = std::max(result.max_abs, static_cast<double>(max_abs));
  result.max_rel = std::max(result.max_rel, static_cast<double>(max_rel));
  return true;
}

void note_failure(Comparison& result, std::int64_t index, double seen, double expected, double allowed) {
  if (result.first_failing >= 0) return;
  result.ok = false;
  result.first_failing = index;
  result.seen = seen;
  result.expected = expected;
  result.allowed = allowed;
}

void judge_element(double seen, double expected, double size, Bound bound, std::int64_t index, Comparison& result) {
  if (std::isnan(expected) || std::isnan(seen)) {
    if (std::isnan(expected) != std::isnan(seen)) note_failure(result, index, seen, expected, 0);
    return;
  }
  if (std::isinf(expected) || std::isinf(seen)) {
    if (seen != expected) note_failure(result, index, seen, expected, 0);
    return;
  }
  const double difference = std::abs(seen - expected);
  const double magnitude = std::abs(expected);
  const double allowed = bound.absolute + bound.relative * std::max(std::abs(size), magnitude);
  result.max_abs = std::max(result.max_abs, difference);
  if (magnitude > 0) result.max_rel = std::max(result.max_rel, difference / magnitude);
  if (!(difference <= allowed)) note_failure(result, index, seen, expected, allowed);
}

/// `parts` is the number of components of one element: 2 for complex.
template <class T, class Source>
void compare_floats(const Source& seen, const Source& expected, const Source& sizes, std::size_t count,
                    std::size_t parts, const Tolerance& tolerance, double slack, Comparison& result) {
  std::array<T, kBlock> seen_room;
  std::array<T, kBlock> expected_room;
  std::array<T, kBlock> sizes_room;
  double largest = 0;
  for (std::size_t begin = 0; begin < count; begin += kBlock)
    largest = std::max(largest, largest_finite(sizes.block(begin, std::min(kBlock, count - begin), sizes_room)));
  const Bound bound{.absolute = tolerance.share * largest + tolerance.floor + slack, .relative = tolerance.relative};
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t length = std::min(kBlock, count - begin);
    const std::span<const T> a = seen.block(begin, length, seen_room);
    const std::span<const T> b = expected.block(begin, length, expected_room);
    const std::span<const T> size = sizes.data == expected.data ? b : sizes.block(begin, length, sizes_room);
    if (quick_pass(a, b, size, bound, result)) continue;
    for (std::size_t i = 0; i < length; ++i)
      judge_element(static_cast<double>(a[i]), static_cast<double>(b[i]), static_cast<double>(size[i]), bound,
                    static_cast<std::int64_t>((begin + i) / parts), result);
  }
}

template <class T>
void compare_integers(const Tensor& seen, const Tensor& expected, double slack, Comparison& result) {
  const auto a = seen.data.as<T>();
  const auto b = expected.data.as<T>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    // Unsigned arithmetic: the distance of the two extremes of i64 does not fit i64.
    const std::uint64_t distance = a[i] > b[i] ? static_cast<std::uint64_t>(a[i]) - static_cast<std::uint64_t>(b[i])
                                               : static_cast<std::uint64_t>(b[i]) - static_cast<std::uint64_t>(a[i]);
    const double seen_value = static_cast<double>(a[i]);
    const double expected_value = static_cast<double>(b[i]);
    result.max_abs = std::max(result.max_abs, static_cast<double>(distance));
    if (b[i] != 0) result.max_rel = std::max(result.max_rel, static_cast<double>(distance) / std::abs(expected_value));
    if (static_cast<double>(distance) > slack)
      note_failure(result, static_cast<std::int64_t>(i), seen_value, expected_value, slack);
  }
}

/// Packed integers of 2 and 4 bits; the unused high bits of the last byte do not matter.
void compare_packed(const Tensor& seen, const Tensor& expected, double slack, Comparison& result) {
  const auto a = integers_of(seen);
  const auto b = integers_of(expected);
  COLLAGE_CHECK(a && b, "packed integers that cannot be read");
  for (std::size_t i = 0; i < a->size(); ++i) {
    const std::int64_t distance = std::abs((*a)[i] - (*b)[i]);
    result.max_abs = std::max(result.max_abs, static_cast<double>(distance));
    if (static_cast<double>(distance) > slack)
      note_failure(result, static_cast<std::int64_t>(i), static_cast<double>((*a)[i]), static_cast<double>((*b)[i]),
                   slack);
  }
}

/// True for a byte that is no number in a type of 8-bit floats with several bit patterns for that.
bool is_small_nan(ElementType type, std::byte bits) {
  const int magnitude = std::to_integer<int>(bits) & 0x7f;
  return (type == ElementType::kFloat8E5M2 && magnitude > 0x7c) ||
         (type == ElementType::kFloat8E4M3Fn && magnitude == 0x7f);
}

/// Types whose elements are only ever copied: bit-equal or wrong, any two NaNs alike. Bool too, so a true stored as 2
/// is wrong.
void compare_bits(const Tensor& seen, const Tensor& expected, Comparison& result) {
  const std::size_t count = static_cast<std::size_t>(expected.size());
  const std::size_t width = count == 0 ? 1 : std::max<std::size_t>(1, expected.data.size() / count);
  const auto a = seen.data.bytes();
  const auto b = expected.data.bytes();
  const auto alike = [&](std::byte x, std::byte y) {
    return x == y || (is_small_nan(expected.type, x) && is_small_nan(expected.type, y));
  };
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(), alike)) return;
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), alike).first - a.begin());
  note_failure(result, static_cast<std::int64_t>(at / width), static_cast<double>(a[at]), static_cast<double>(b[at]),
               0);
}

void compare_strings(const Tensor& seen, const Tensor& expected, Comparison& result) {
  if (seen.strings.size() != expected.strings.size()) {
    result.ok = false;
    result.mismatch = fmt::format("{} strings, expected {}", seen.strings.size(), expected.strings.size());
    return;
  }
  for (std::size_t i = 0; i < seen.strings.size(); ++i)
    if (seen.strings[i] != expected.strings[i]) {
      note_failure(result, static_cast<std::int64_t>(i), 0, 0, 0);
      result.mismatch = fmt::format("string {}: saw '{}', expected '{}'", i, shortened(seen.strings[i], kShown),
                                    shortened(expected.strings[i], kShown));
      return;
    }
}

/// Type, extents and the number of bytes, before any element is read.
std::string kind_mismatch(const Tensor& seen, const Tensor& expected) {
  if (seen.type != expected.type || seen.extents != expected.extents)
    return fmt::format("{}, expected {}", to_string(seen.value_type()), to_string(expected.value_type()));
  if (expected.type == ElementType::kString) return {};
  const std::size_t bytes = byte_count(expected.type, expected.extents);
  if (seen.data.size() != bytes || expected.data.size() != bytes)
    return fmt::format("{} and {} bytes, expected {}", seen.data.size(), expected.data.size(), bytes);
  return {};
}

Comparison judge_items(const Tensor& seen, const Tensor& expected, const Tolerance& tolerance, double slack);

/// `sizes` is `expected` itself unless bounds scale with something else.
Comparison judge(const Tensor& seen, const Tensor& expected, const Tensor& sizes, const Tolerance& tolerance,
                 double slack) {
  if (seen.container || expected.container) return judge_items(seen, expected, tolerance, slack);
  Comparison result;
  result.mismatch = kind_mismatch(seen, expected);
  if (result.mismatch.empty()) result.mismatch = kind_mismatch(sizes, expected);
  if (!result.mismatch.empty()) return result;
  result.ok = true;
  const auto count = static_cast<std::size_t>(expected.size());
  const std::byte* a = seen.data.data();
  const std::byte* b = expected.data.data();
  const std::byte* c = sizes.data.data();
  const auto plain = [&]<class T>(T, std::size_t parts) {
    compare_floats<T>(PlainSource<T>{a}, PlainSource<T>{b}, PlainSource<T>{c}, count * parts, parts, tolerance, slack,
                      result);
  };
  const auto half = [&](bool is_bfloat) {
    compare_floats<float>(HalfSource{a, is_bfloat}, HalfSource{b, is_bfloat}, HalfSource{c, is_bfloat}, count, 1,
                          tolerance, slack, result);
  };
  const auto integer = [&]<class T>(T) { compare_integers<T>(seen, expected, slack, result); };
  switch (expected.type) {
    case ElementType::kFloat32:
      plain(float{}, 1);
      break;
    case ElementType::kFloat64:
      plain(double{}, 1);
      break;
    case ElementType::kComplex64:
      plain(float{}, 2);
      break;
    case ElementType::kComplex128:
      plain(double{}, 2);
      break;
    case ElementType::kFloat16:
      half(false);
      break;
    case ElementType::kBfloat16:
      half(true);
      break;
    case ElementType::kInt8:
      integer(std::int8_t{});
      break;
    case ElementType::kUint8:
      integer(std::uint8_t{});
      break;
    case ElementType::kInt16:
      integer(std::int16_t{});
      break;
    case ElementType::kUint16:
      integer(std::uint16_t{});
      break;
    case ElementType::kInt32:
      integer(std::int32_t{});
      break;
    case ElementType::kUint32:
      integer(std::uint32_t{});
      break;
    case ElementType::kInt64:
      integer(std::int64_t{});
      break;
    case ElementType::kUint64:
      integer(std::uint64_t{});
      break;
    case ElementType::kInt2:
    case ElementType::kUint2:
    case ElementType::kInt4:
    case ElementType::kUint4:
      compare_packed(seen, expected, slack, result);
      break;
    case ElementType::kString:
      compare_strings(seen, expected, result);
      break;
    default:
      compare_bits(seen, expected, result);
      break;
  }
  return result;
}

/// Sequences, optionals and maps: item by item.
Comparison judge_items(const Tensor& seen, const Tensor& expected, const Tolerance& tolerance, double slack) {
  Comparison result;
  if (seen.value_type().kind != expected.value_type().kind) {
    result.mismatch = fmt::format("{}, expected {}", to_string(seen.value_type()), to_string(expected.value_type()));
    return result;
  }
  if (seen.items.size() != expected.items.size()) {
    result.mismatch = fmt::format("{} items, expected {}", seen.items.size(), expected.items.size());
    return result;
  }
  result.ok = true;
  for (std::size_t i = 0; i < expected.items.size(); ++i) {
    Comparison item = judge(seen.items[i], expected.items[i], expected.items[i], tolerance, slack);
    item.max_abs = std::max(item.max_abs, result.max_abs);
    item.max_rel = std::max(item.max_rel, result.max_rel);
    if (!item.ok) item.mismatch = fmt::format("item {}: {}", i, to_string(item));
    result = std::move(item);
    if (!result.ok) break;
  }
  return result;
}

}  // namespace

Tolerance tolerance_of(Accuracy accuracy, bool model_is_16bit) {
  constexpr double kFloor = 1e-6;
  if (model_is_16bit) return {.share = 2e-3, .relative = 1e-2, .floor = kFloor};
  switch (accuracy) {
    case Accuracy::kStrict:
      return {.share = 1e-5, .relative = 1e-4, .floor = kFloor};
    case Accuracy::kStandard:
      return {.share = 1e-4, .relative = 1e-3, .floor = kFloor};
    case Accuracy::kFast:
      return {.share = 1e-2, .relative = 1e-2, .floor = kFloor};
  }
  return {};
}

Comparison compare(const Tensor& seen, const Tensor& expected, Accuracy accuracy, bool model_is_16bit, double slack) {
  return judge(seen, expected, expected, tolerance_of(accuracy, model_is_16bit), slack);
}

Comparison compare_sized(const Tensor& seen, const Tensor& expected, const Tensor& sizes, Accuracy accuracy,
                         bool model_is_16bit) {
  return judge(seen, expected, sizes, tolerance_of(accuracy, model_is_16bit), false);
}

std::string to_string(const Comparison& comparison) {
  if (comparison.ok) return "equal";
  if (!comparison.mismatch.empty()) return comparison.mismatch;
  return fmt::format("element {}: saw {:.9g}, expected {:.9g} +- {:.3g}", comparison.first_failing, comparison.seen,
                     comparison.expected, comparison.allowed);
}

}  // namespace collage
