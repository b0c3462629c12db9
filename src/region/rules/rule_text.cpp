#include "region/rules/rule_text.h"

#include <algorithm>
#include <utility>

#include "base/number_text.h"

namespace collage {
namespace {

/// Adds one limit; false when it is none.
bool add_limit(std::string_view one, RegionLimits& limits) {
  if (one == "no taps") {
    limits.allow_taps = false;
    return true;
  }
  if (one == "no bodies") {
    limits.allow_bodies = false;
    return true;
  }
  for (const auto& [name, most] : {std::pair{std::string_view("nodes"), &limits.max_nodes},
                                   {std::string_view("depth"), &limits.max_depth},
                                   {std::string_view("outputs"), &limits.max_outputs}})
    if (const auto count = count_after(one, name)) {
      *most = *count;
      return true;
    }
  return false;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c != separator || depth != 0) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) {
    const bool is_quoted = text.front() == '"' && text.find('"', 1) != std::string_view::npos;
    if (is_quoted) text.remove_prefix(1);
    const std::size_t end = std::min(is_quoted ? text.find('"') : text.find_first_of(kBlanks), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<std::size_t> count_after(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.substr(name.size()).starts_with("<=")) return std::nullopt;
  text.remove_prefix(name.size() + 2);
  const auto value = number_in<std::size_t>(text);
  return value && *value > 0 ? value : std::nullopt;
}

std::expected<RegionLimits, std::string> parse_limits(std::string_view text) {
  RegionLimits limits{.allow_taps = true};
  for (const std::string_view one : parts_of(text, ','))
    if (!add_limit(one, limits)) return std::unexpected(std::string(one));
  return limits;
}

}  // namespace collage
