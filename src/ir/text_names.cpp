// Quoting and reading names. Reading takes any text and never more than it understands.
#include "ir/text_names.h"

#include <algorithm>

namespace collage {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool starts_symbol(char c) { return is_letter(c) || c == '_'; }

/// Reads what follows a backslash at `text[i]` and moves `i` to its last character.
std::optional<char> read_escape(std::string_view text, std::size_t& i) {
  switch (text[i]) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'x':
      break;
    default:
      return std::nullopt;
  }
  if (i + 2 >= text.size()) return std::nullopt;
  const int high = hex_value(text[i + 1]);
  const int low = hex_value(text[i + 2]);
  if (high < 0 || low < 0) return std::nullopt;
  i += 2;
  return static_cast<char>(high * 16 + low);
}

}  // namespace

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '/' || c == '-'; }

std::string quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte >= 0x7f) {
      result += "\\x";
      result += kDigits[byte / 16];
      result += kDigits[byte % 16];
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::optional<std::string> read_quoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string result;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return result;
    }
    if (text[i] != '\\') {
      result += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    const auto escaped = read_escape(text, i);
    if (!escaped) return std::nullopt;
    result += *escaped;
  }
  return std::nullopt;
}

std::string name_text(std::string_view name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), is_name_char);
  return bare ? std::string(name) : quoted(name);
}

std::string symbol_text(std::string_view name) {
  return !name.empty() && starts_symbol(name.front()) ? name_text(name) : quoted(name);
}

std::optional<std::string> read_symbol(std::string_view& text) {
  if (text.starts_with('"')) return read_quoted(text);
  if (text.empty() || !starts_symbol(text.front())) return std::nullopt;
  std::size_t end = 1;
  while (end < text.size() && is_name_char(text[end])) ++end;
  std::string name(text.substr(0, end));
  text.remove_prefix(end);
  return name;
}

}  // namespace collage
