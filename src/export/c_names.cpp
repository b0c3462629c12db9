#include "export/c_names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace collage {
namespace {

/// With these in front of _init, _run, _error or _free a function would take the place of one of the C library's.
constexpr std::array<std::string_view, 7> kOfTheCLibrary = {"aio", "cnd", "mtx", "res", "sem", "svc", "xdr"};
/// Beginnings of names that belong to others.
constexpr std::array<std::string_view, 3> kOfOthers = {"collage", "posix", "pthread"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_taken(std::string_view name) {
  return std::ranges::find(kOfTheCLibrary, name) != kOfTheCLibrary.end() ||
         std::ranges::any_of(kOfOthers, [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::string c_identifier(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c))
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) return "model";
  if (is_digit(out.front()) || is_taken(out)) out.insert(0, "m_");
  return out;
}

std::string upper_case(std::string_view identifier) {
  std::string out(identifier);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string c_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~' || c == '?')
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace collage
