#include "onnx/value_order.h"

#include "base/number_text.h"

namespace collage {
namespace {}  // namespace

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
    const auto first = take_number<std::uint32_t>(text);
    auto last = first;
    if (first && !text.empty() && text.front() == '-') {
      text.remove_prefix(1);
      last = take_number<std::uint32_t>(text);
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
