#include "base/suggest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace collage {
namespace {

constexpr std::size_t kLeastPrefix = 3;
/// Longer names are not compared: names in models can be very long, and such names are not typed by hand.
constexpr std::size_t kMostLetters = 256;

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = same_letter(a[i - 1], b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (equal ? 0 : 1)});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

bool begins_with(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::ranges::equal(text.substr(0, start.size()), start, same_letter);
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
  if (word.empty() || word.size() > kMostLetters) return std::nullopt;
  const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
  std::size_t fewest = most + 1;
  const std::string* nearest = nullptr;
  for (const std::string& one : known) {
    if (one.size() > kMostLetters) continue;
    std::size_t edits = edits_between(word, one);
    if (edits > most && word.size() >= kLeastPrefix && begins_with(one, word)) edits = most;
    if (edits < fewest) {
      fewest = edits;
      nearest = &one;
    }
  }
  // Words of one letter are a single edit away from each other.
  if (nearest == nullptr || (word.size() == 1 && !same_letter(word[0], (*nearest)[0]))) return std::nullopt;
  return *nearest;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::optional<std::string> nearest = nearest_word(word, known);
  return nearest ? "; did you mean " + *nearest + "?" : "";
}

}  // namespace collage
