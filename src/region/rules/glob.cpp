// Globs of names. Names come from models and globs from plans, too: fnmatch() of the C library takes time exponential
// in the number of '*'. Cost: length of the name x length of the glob. Source: POSIX.1-2017, XCU 2.13 Pattern Matching
// Notation, for bytes.
#include <algorithm>

#include "region/rules/partition_rule.h"

namespace collage {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// One element of a glob that is no '*', held against a character.
struct Element {
  std::size_t bytes = 1;  ///< of the glob
  bool fits = false;
};

/// "[...]" at the start of `glob`; a single bracket where it has no end.
Element bracket(std::string_view glob, unsigned char character) {
  std::size_t at = 1;
  const bool excludes = at < glob.size() && (glob[at] == '!' || glob[at] == '^');
  if (excludes) ++at;
  bool is_in = false;
  for (const std::size_t first = at; at < glob.size() && (glob[at] != ']' || at == first); ++at) {
    if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
    const auto low = static_cast<unsigned char>(glob[at]);
    auto high = low;
    if (at + 2 < glob.size() && glob[at + 1] == '-' && glob[at + 2] != ']') {
      at += 2;
      if (glob[at] == '\\' && at + 1 < glob.size()) ++at;
      high = static_cast<unsigned char>(glob[at]);
    }
    is_in |= low <= character && character <= high;
  }
  if (at >= glob.size()) return {.bytes = 1, .fits = character == '['};
  return {.bytes = at + 1, .fits = is_in != excludes};
}

Element element(std::string_view glob, char character) {
  if (glob[0] == '?') return {.bytes = 1, .fits = true};
  if (glob[0] == '[') return bracket(glob, static_cast<unsigned char>(character));
  if (glob[0] == '\\' && glob.size() > 1) return {.bytes = 2, .fits = glob[1] == character};
  return {.bytes = 1, .fits = glob[0] == character};
}

/// What the last '*' takes grows by a character whenever what follows it does not fit; earlier ones need not.
bool is_match(std::string_view name, std::string_view glob) {
  std::size_t in_name = 0;
  std::size_t in_glob = 0;
  std::size_t star = kNone;       ///< behind the last '*'
  std::size_t star_ends = kNone;  ///< where what it takes ends
  while (in_name < name.size()) {
    if (in_glob < glob.size() && glob[in_glob] == '*') {
      star = ++in_glob;
      star_ends = in_name;
      continue;
    }
    const Element here = in_glob < glob.size() ? element(glob.substr(in_glob), name[in_name]) : Element{};
    if (here.fits) {
      in_glob += here.bytes;
      ++in_name;
      continue;
    }
    if (star == kNone) return false;
    in_glob = star;
    in_name = ++star_ends;
  }
  return glob.find_first_not_of('*', in_glob) == kNone;
}

}  // namespace

bool matches_glob(std::string_view name, const std::vector<std::string>& globs) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return is_match(name, glob); });
}

}  // namespace collage
