#include "onnx/value_order.h"

#include <charconv>

namespace collage {
namespace {

std::optional<std::uint32_t> read_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

bool is_identity(const ValueOrder& permutation) {
  for (std::uint32_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != i) return false;
  return true;
}

std::string to_text(const ValueOrder& permutation) {
  std::string text;
  for (std::size_t i = 0; i < permutation.size();) {
    std::size_t end = i + 1;
    while (end < permutation.size() && permutation[end] == permutation[end - 1] + 1) ++end;
    if (!text.empty()) text += ",";
    text += std::to_string(permutation[i]);
    if (end > i + 1) text += "-" + std::to_string(permutation[end - 1]);
    i = end;
  }
  return text;
}

std::optional<ValueOrder> parse_permutation(std::string_view text, std::size_t size) {
  ValueOrder permutation;
  std::vector<bool> seen(size, false);
  while (!text.empty()) {
    if (!permutation.empty()) {
      if (text.front() != ',') return std::nullopt;
      text.remove_prefix(1);
    }
    const auto first = read_number(text);
    auto last = first;
    if (first && !text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      last = read_number(text);
    }
    if (!first || !last || *last < *first || *last >= size) return std::nullopt;
    for (std::uint32_t i = *first; i <= *last; ++i) {
      if (seen[i]) return std::nullopt;
      seen[i] = true;
      permutation.push_back(i);
    }
  }
  if (permutation.size() != size) return std::nullopt;
  return permutation;
}

}  // namespace collage
