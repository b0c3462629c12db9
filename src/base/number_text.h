// Parses numbers: a whole text as one number, or the number at the start of a text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace collage {

/// Removes a number from the front of `text`; nothing, with the text unchanged, when there is none that fits T.
template <class T>
[[nodiscard]] std::optional<T> take_number(std::string_view& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// The whole `text` as a number; nothing when it is none, or does not fit T.
template <class T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace collage
