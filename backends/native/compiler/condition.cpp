#include "compiler/condition.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>

namespace collage::native {
namespace {

/// Reads a condition word by word; what is wrong is kept, the first of it.
class Reader {
 public:
  using LookUp = std::function<std::optional<std::int64_t>(std::string_view name)>;

  Reader(std::string_view text, LookUp look_up) : text_(text), look_up_(std::move(look_up)) { take(); }

  std::expected<bool, std::string> read() {
    if (word_.empty()) return true;
    bool result = term();
    while (word_ == "or") {
      take();
      result = term() || result;
    }
    if (!word_.empty()) complain("a condition that goes on: " + std::string(word_));
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return result;
  }

 private:
  std::string_view take() {
    const std::string_view taken = word_;
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    word_ = text_.substr(0, text_.find(' '));
    text_.remove_prefix(word_.size());
    return taken;
  }

  void complain(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }

  std::int64_t number() {
    const std::string_view word = take();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc{} && end == word.data() + word.size()) return number;
    const auto known = look_up_(word);
    if (!known) complain("no fact called " + std::string(word));
    return known.value_or(1);
  }

  std::int64_t product() {
    std::int64_t value = number();
    while (word_ == "*" || word_ == "%") {
      const bool is_product = take() == "*";
      const std::int64_t by = number();
      if (!is_product && by == 0) complain("a remainder of a division by zero");
      value = is_product ? value * by : value % (by == 0 ? 1 : by);
    }
    return value;
  }

  std::int64_t operand() {
    std::int64_t value = product();
    while (word_ == "+") {
      take();
      value += product();
    }
    return value;
  }

  bool comparison() {
    const std::int64_t a = operand();
    const std::string_view sign = take();
    const std::int64_t b = operand();
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    if (sign == "<") return a < b;
    if (sign != ">") complain("no comparison: " + std::string(sign));
    return a > b;
  }

  bool term() {
    bool result = comparison();
    while (word_ == "and") {
      take();
      result = comparison() && result;
    }
    return result;
  }

  std::string_view text_;
  std::string_view word_;
  LookUp look_up_;
  std::string wrong_;
};

}  // namespace

std::expected<bool, std::string> evaluate(std::string_view condition, const Facts& facts) {
  return Reader(condition,
                [&](std::string_view name) -> std::optional<std::int64_t> {
                  const auto found = facts.find(name);
                  return found == facts.end() ? std::nullopt : std::optional(found->second);
                })
      .read();
}

std::expected<std::vector<std::string>, std::string> names_in(std::string_view condition) {
  std::vector<std::string> names;
  const auto read = Reader(condition, [&](std::string_view name) -> std::optional<std::int64_t> {
                      if (name.empty()) return std::nullopt;
                      if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
                      return 1;
                    }).read();
  if (!read) return std::unexpected(read.error());
  return names;
}

bool holds(std::string_view condition, const Facts& facts) {
  const auto result = evaluate(condition, facts);
  COLLAGE_CHECK(result.has_value(), result.error());
  return *result;
}

}  // namespace collage::native
