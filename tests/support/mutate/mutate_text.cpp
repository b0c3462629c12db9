#include "tests/support/mutate/mutate_text.h"

#include <array>
#include <vector>

#include "tests/support/mutate/mutate_bytes.h"

namespace collage::test {
namespace {

bool is_word(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

/// Runs of letters and digits, and every other byte on its own.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (is_word(text[at]) && end < text.size() && is_word(text[end])) ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string odd_word(Dice& dice) {
  static const std::array<std::string, 24> kWords = {"(",
                                                     ")",
                                                     "{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     "<",
                                                     ">",
                                                     "=",
                                                     "..",
                                                     "->",
                                                     "*",
                                                     "?",
                                                     "|",
                                                     ",",
                                                     ":",
                                                     ";",
                                                     "\n",
                                                     "\"",
                                                     "nan",
                                                     "-",
                                                     ".",
                                                     std::string(1, '\0'),
                                                     "\xff"};
  if (!dice.one_in(3)) return kWords[dice.below(kWords.size())];
  if (dice.one_in(4)) return "99999999999999999999999999";
  return std::to_string(kBoundaryIntegers[dice.below(kBoundaryIntegers.size())]);
}

/// A part many times: what recurses, or grows with the square of a length, shows it.
std::string repeated(const std::vector<std::string>& words, std::size_t at, Dice& dice) {
  const std::size_t count = 1 + dice.below(4);
  std::string part;
  for (std::size_t i = at; i < words.size() && i < at + count; ++i) part += words[i];
  constexpr std::array<std::size_t, 4> kTimes = {2, 30, 1000, 20'000};
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::string text;
  for (std::size_t i = kTimes[dice.below(kTimes.size())]; i > 0 && text.size() < kMostBytes; --i) text += part;
  return text;
}

void change_once(std::vector<std::string>& words, const std::vector<std::string>& others, Dice& dice) {
  const std::size_t at = dice.below(words.size());
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice.below(8)) {
    case 0:
      words.erase(place);
      return;
    case 1:
      words.insert(place, odd_word(dice));
      return;
    case 2:
      *place = odd_word(dice);
      return;
    case 3:
      std::swap(*place, words[dice.below(words.size())]);
      return;
    case 4:
      *place = dice.pick(others);
      return;
    case 5:
      words.insert(place, dice.pick(others));
      return;
    case 6:
      if (dice.one_in(4)) *place = repeated(words, at, dice);
      return;
    default:
      *place = mutated_bytes(*place, "", dice);
  }
}

}  // namespace

std::string mutated_text(const std::string& text, const std::string& other, Dice& dice) {
  if (text.empty()) return odd_word(dice);
  std::vector<std::string> words = words_of(text);
  std::vector<std::string> others = words_of(other);
  others.insert(others.end(), words.begin(), words.end());
  const std::size_t changes = 1 + dice.below(4);
  for (std::size_t i = 0; i < changes && !words.empty(); ++i) change_once(words, others, dice);
  std::string changed;
  for (const std::string& word : words) changed += word;
  return changed;
}

}  // namespace collage::test
