#include "serve/json_data.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "serve/text_tensor.h"

namespace collage {
namespace {

constexpr std::uint8_t kNumber = 1;
constexpr std::uint8_t kTruthValue = 2;
constexpr std::uint8_t kText = 4;

/// Elements in the order of the list, as integers or as doubles.
struct Elements {
  const std::vector<std::uint64_t>& bits;
  bool is_real;
  bool is_unsigned;
};

std::unexpected<Error> wrong_data(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "serve/wrong-data", where, std::move(saw), std::move(allowed));
}

std::unexpected<Error> out_of_range(const std::string& where, std::size_t i, std::string saw, ElementType type) {
  return fail(ExitCode::kBadInput, "serve/out-of-range", fmt::format("{}[{}]", where, i), std::move(saw),
              fmt::format("numbers that {} can hold", name_of(type)));
}

template <class T>
Result<std::string> integers_as(const Elements& from, ElementType type, const std::string& where) {
  if (from.is_real)
    return wrong_data(where, "a number with a fraction or exponent, or numbers of no one integer type", "integers");
  std::string bytes;
  bytes.reserve(from.bits.size() * sizeof(T));
  for (std::size_t i = 0; i < from.bits.size(); ++i) {
    const auto negative = std::bit_cast<std::int64_t>(from.bits[i]);
    const bool fits = from.is_unsigned ? std::in_range<T>(from.bits[i]) : std::in_range<T>(negative);
    if (!fits)
      return out_of_range(where, i, from.is_unsigned ? std::to_string(from.bits[i]) : std::to_string(negative), type);
    const T value = static_cast<T>(from.bits[i]);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

double as_double(const Elements& from, std::size_t i) {
  if (from.is_real) return std::bit_cast<double>(from.bits[i]);
  if (from.is_unsigned) return static_cast<double>(from.bits[i]);
  return static_cast<double>(std::bit_cast<std::int64_t>(from.bits[i]));
}

template <class T>
Result<std::string> floats_as(const Elements& from, ElementType type, const std::string& where) {
  std::string bytes;
  bytes.reserve(from.bits.size() * sizeof(T));
  for (std::size_t i = 0; i < from.bits.size(); ++i) {
    const double wide = as_double(from, i);
    // The shortest text of the largest number is a little above it as a double.
    const T value = static_cast<T>(wide);
    if (!std::isfinite(value)) return out_of_range(where, i, fmt::format("{}", wide), type);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

Result<std::string> elements_as(const Elements& from, ElementType type, const std::string& where) {
  switch (type) {
    case ElementType::kUint8:
      return integers_as<std::uint8_t>(from, type, where);
    case ElementType::kUint16:
      return integers_as<std::uint16_t>(from, type, where);
    case ElementType::kUint32:
      return integers_as<std::uint32_t>(from, type, where);
    case ElementType::kUint64:
      return integers_as<std::uint64_t>(from, type, where);
    case ElementType::kInt8:
      return integers_as<std::int8_t>(from, type, where);
    case ElementType::kInt16:
      return integers_as<std::int16_t>(from, type, where);
    case ElementType::kInt32:
      return integers_as<std::int32_t>(from, type, where);
    case ElementType::kInt64:
      return integers_as<std::int64_t>(from, type, where);
    case ElementType::kFloat32:
      return floats_as<float>(from, type, where);
    case ElementType::kFloat64:
      return floats_as<double>(from, type, where);
    default:
      return fail(ExitCode::kBadInput, "serve/needs-binary", where, fmt::format("{} as JSON", name_of(type)),
                  "binary data for this type");
  }
}

/// Truth values and the numbers 0 and 1.
Result<std::string> truth_values(const Elements& from, const std::string& where) {
  std::string bytes(from.bits.size(), '\0');
  for (std::size_t i = 0; i < from.bits.size(); ++i) {
    if (from.is_real || from.bits[i] > 1)
      return wrong_data(fmt::format("{}[{}]", where, i), "another number", "0 or 1");
    bytes[i] = static_cast<char>(from.bits[i]);
  }
  return bytes;
}

}  // namespace

void JsonData::count() {
  if (!open_.empty()) ++open_.back();
  // Elements beside lists: the levels of both are then not the same for all.
  if (levels_.size() > open_.size()) is_ragged_ = true;
}

void JsonData::add(bool value) {
  count();
  kinds_ |= kTruthValue;
  bits_.push_back(value ? 1 : 0);
}

void JsonData::add(std::int64_t value) {
  if (has_real_ || (value < 0 && has_large_)) return add(static_cast<double>(value));
  count();
  kinds_ |= kNumber;
  has_negative_ = has_negative_ || value < 0;
  bits_.push_back(std::bit_cast<std::uint64_t>(value));
}

void JsonData::add(std::uint64_t value) {
  const bool is_large = value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (has_real_ || (is_large && has_negative_)) return add(static_cast<double>(value));
  count();
  kinds_ |= kNumber;
  has_large_ = has_large_ || is_large;
  bits_.push_back(value);
}

void JsonData::add(double value) {
  count();
  kinds_ |= kNumber;
  if (!has_real_) {
    for (std::uint64_t& bits : bits_)
      bits = std::bit_cast<std::uint64_t>(has_negative_ ? static_cast<double>(std::bit_cast<std::int64_t>(bits))
                                                        : static_cast<double>(bits));
    has_real_ = true;
  }
  bits_.push_back(std::bit_cast<std::uint64_t>(value));
}

void JsonData::add(std::string value) {
  count();
  kinds_ |= kText;
  append_text(texts_, value);
  bits_.push_back(0);
}

void JsonData::open_list() {
  if (!open_.empty()) ++open_.back();
  open_.push_back(0);
  if (levels_.size() < open_.size()) {
    // A deeper level after elements: lists beside elements.
    if (!levels_.empty() && !bits_.empty()) is_ragged_ = true;
    levels_.emplace_back();
  }
}

void JsonData::close_list() {
  Level& level = levels_[open_.size() - 1];
  if (level.size >= 0 && level.size != open_.back()) is_ragged_ = true;
  level.size = open_.back();
  open_.pop_back();
}

Result<std::string> JsonData::bytes(ElementType type, const Extents& extents, const std::string& where) const {
  const auto wanted = static_cast<std::size_t>(element_count(extents));
  const std::string shape = fmt::format("{} elements for the shape [{}]", wanted, fmt::join(extents, ","));
  if (bits_.size() != wanted) return wrong_data(where, fmt::format("{} elements", bits_.size()), shape);
  if (levels_.size() > 1 && wanted > 0) {
    bool fits = !is_ragged_ && levels_.size() == extents.size();
    for (std::size_t i = 0; fits && i < levels_.size(); ++i) fits = levels_[i].size == extents[i];
    if (!fits) return wrong_data(where, "lists in lists of other lengths", "a flat list, or lists nested as " + shape);
  }
  const bool is_text = type == ElementType::kString;
  if (kinds_ != 0 && (is_text ? kinds_ != kText : (kinds_ & kText) != 0))
    return wrong_data(where, is_text ? "elements that are no text" : "text",
                      is_text ? "text" : "numbers, for " + std::string(name_of(type)));
  if (is_text) return texts_;
  const Elements elements{.bits = bits_, .is_real = has_real_, .is_unsigned = !has_negative_};
  if ((kinds_ == kTruthValue && type != ElementType::kBool) || kinds_ == (kTruthValue | kNumber))
    return wrong_data(where, "true or false", fmt::format("numbers only, for {}", name_of(type)));
  return type == ElementType::kBool ? truth_values(elements, where) : elements_as(elements, type, where);
}

}  // namespace collage
