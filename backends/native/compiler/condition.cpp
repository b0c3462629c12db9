#include "compiler/condition.h"

#include <charconv>

namespace collage::native {
namespace {

/// Words of a condition, one at a time.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { advance(); }
  [[nodiscard]] std::string_view word() const { return word_; }
  std::string_view take() {
    const std::string_view taken = word_;
    advance();
    return taken;
  }

 private:
  void advance() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    word_ = text_.substr(0, text_.find(' '));
    text_.remove_prefix(word_.size());
  }
  std::string_view text_;
  std::string_view word_;
};

std::int64_t number_of(std::string_view word, const Facts& facts) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size()) return number;
  const auto found = facts.find(word);
  COLLAGE_CHECK(found != facts.end(), "no fact called " + std::string(word));
  return found->second;
}

std::int64_t operand(Words& words, const Facts& facts) {
  std::int64_t value = number_of(words.take(), facts);
  while (words.word() == "*" || words.word() == "%") {
    const bool is_product = words.take() == "*";
    const std::int64_t by = number_of(words.take(), facts);
    value = is_product ? value * by : value % by;
  }
  return value;
}

bool comparison(Words& words, const Facts& facts) {
  const std::int64_t a = operand(words, facts);
  const std::string_view sign = words.take();
  const std::int64_t b = operand(words, facts);
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<=") return a <= b;
  if (sign == ">=") return a >= b;
  if (sign == "<") return a < b;
  COLLAGE_CHECK(sign == ">", "no comparison: " + std::string(sign));
  return a > b;
}

bool term(Words& words, const Facts& facts) {
  bool result = comparison(words, facts);
  while (words.word() == "and") {
    words.take();
    result = comparison(words, facts) && result;
  }
  return result;
}

}  // namespace

bool holds(std::string_view condition, const Facts& facts) {
  Words words(condition);
  if (words.word().empty()) return true;
  bool result = term(words, facts);
  while (words.word() == "or") {
    words.take();
    result = term(words, facts) || result;
  }
  COLLAGE_CHECK(words.word().empty(), "a condition that goes on: " + std::string(condition));
  return result;
}

}  // namespace collage::native
