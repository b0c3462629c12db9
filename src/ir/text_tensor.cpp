// The text of a tensor. In: any tensor, also one that verify() would refuse. Out: one line that reads back exactly.
#include <charconv>
#include <cmath>

#include "ir/text_names.h"
#include "ir/text_print.h"

namespace collage {
namespace {

template <class Float>
std::string shortest(Float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[64];
  const auto [end, status] = std::to_chars(digits, digits + sizeof digits, value);
  std::string text(digits, status == std::errc{} ? end : digits);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string hex_contents(const Tensor& tensor) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "x";
  for (const std::byte byte : tensor.data.bytes()) {
    text += kDigits[static_cast<unsigned>(byte) / 16];
    text += kDigits[static_cast<unsigned>(byte) % 16];
  }
  return text;
}

/// The contents as numbers; nothing where only the bytes say all (not-a-numbers, packed and unusual types).
std::optional<std::string> numeric_contents(const Tensor& tensor) {
  std::string text = "{";
  const auto separate = [&] {
    if (text.size() > 1) text += ',';
  };
  if (const auto floats = floats_of(tensor)) {
    for (const double value : *floats) {
      if (std::isnan(value)) return std::nullopt;
      separate();
      text += tensor.type == ElementType::kFloat64 ? float_text(value) : float_text(static_cast<float>(value));
    }
    return text + '}';
  }
  if (bits_of(tensor.type) < 8) return std::nullopt;
  const auto integers = integers_of(tensor);
  if (!integers) return std::nullopt;
  for (const std::int64_t value : *integers) {
    if (tensor.type == ElementType::kBool && value > 1) return std::nullopt;
    separate();
    text += std::to_string(value);
  }
  return text + '}';
}

std::string string_contents(const Tensor& tensor) {
  std::string text = "{";
  for (std::size_t i = 0; i < tensor.strings.size(); ++i) text += (i > 0 ? "," : "") + quoted(tensor.strings[i]);
  return text + '}';
}

}  // namespace

std::string float_text(double value) { return shortest(value); }
std::string float_text(float value) { return shortest(value); }

std::string to_text(const Tensor& tensor, std::int64_t inline_elements) {
  const std::string type = to_string(tensor.value_type());
  if (tensor.size() > inline_elements) return type + '#' + content_hash(tensor);
  if (tensor.type == ElementType::kString) return type + string_contents(tensor);
  if (auto numbers = numeric_contents(tensor)) return type + *numbers;
  return type + hex_contents(tensor);
}

}  // namespace collage
