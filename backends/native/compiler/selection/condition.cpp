#include "compiler/selection/condition.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace collage::native {
namespace {

using Number = std::expected<std::int64_t, std::string>;

/// Reads a condition word by word; what is wrong is kept, the first of it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { take(); }

  std::expected<std::vector<Together>, std::string> read() {
    if (word_.empty()) return std::vector<Together>(1);
    std::vector<Together> alternatives = {term()};
    while (word_ == "or") {
      take();
      alternatives.push_back(term());
    }
    if (!word_.empty()) complain("a condition that goes on: " + std::string(word_));
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return alternatives;
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

  std::string_view name_or_number() {
    if (word_.empty()) complain("a condition that ends early");
    return take();
  }

  Product product() {
    Product taken = {name_or_number()};
    while (word_ == "*" || word_ == "%") {
      taken.push_back(take());
      taken.push_back(name_or_number());
    }
    return taken;
  }

  Operand operand() {
    Operand taken = {product()};
    while (word_ == "+") {
      take();
      taken.push_back(product());
    }
    return taken;
  }

  Comparison comparison() {
    constexpr std::array<std::string_view, 6> kSigns = {"==", "!=", "<=", ">=", "<", ">"};
    Comparison taken;
    taken.left = operand();
    taken.sign = take();
    if (std::ranges::find(kSigns, taken.sign) == kSigns.end()) complain("no comparison: " + std::string(taken.sign));
    taken.right = operand();
    return taken;
  }

  Together term() {
    Together together = {comparison()};
    while (word_ == "and") {
      take();
      together.push_back(comparison());
    }
    return together;
  }

  std::string_view text_;
  std::string_view word_;
  std::string wrong_;
};

Number number_of(std::string_view word, const Facts& facts) {
  if (const auto number = literal_number(word)) return *number;
  const auto found = facts.find(word);
  if (found == facts.end()) return std::unexpected("no fact called " + std::string(word));
  return found->second;
}

Number value_of(const Product& product, const Facts& facts) {
  Number value = number_of(product[0], facts);
  for (std::size_t i = 1; value && i + 1 < product.size(); i += 2) {
    const Number by = number_of(product[i + 1], facts);
    if (!by) return by;
    if (product[i] == "*") {
      std::int64_t out = 0;
      if (__builtin_mul_overflow(*value, *by, &out)) return std::unexpected(std::string("a product that is too large"));
      value = out;
    } else {
      if (*by == 0) return std::unexpected(std::string("a remainder of a division by zero"));
      value = *by == -1 ? 0 : *value % *by;
    }
  }
  return value;
}

Number value_of(const Operand& operand, const Facts& facts) {
  std::int64_t sum = 0;
  for (const Product& product : operand) {
    const Number value = value_of(product, facts);
    if (!value) return value;
    if (__builtin_add_overflow(sum, *value, &sum)) return std::unexpected(std::string("a sum that is too large"));
  }
  return sum;
}

std::expected<bool, std::string> evaluate_one(const Comparison& comparison, const Facts& facts) {
  const Number a = value_of(comparison.left, facts);
  if (!a) return std::unexpected(a.error());
  const Number b = value_of(comparison.right, facts);
  if (!b) return std::unexpected(b.error());
  if (comparison.sign == "==") return *a == *b;
  if (comparison.sign == "!=") return *a != *b;
  if (comparison.sign == "<=") return *a <= *b;
  if (comparison.sign == ">=") return *a >= *b;
  return comparison.sign == "<" ? *a < *b : *a > *b;
}

}  // namespace

std::expected<std::vector<Together>, std::string> alternatives_of(std::string_view condition) {
  return Reader(condition).read();
}

std::optional<std::int64_t> literal_number(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size()) return number;
  return std::nullopt;
}

std::expected<bool, std::string> evaluate(std::string_view condition, const Facts& facts) {
  const auto alternatives = alternatives_of(condition);
  if (!alternatives) return std::unexpected(alternatives.error());
  bool result = false;
  for (const Together& together : *alternatives) {
    bool hold_together = true;
    for (const Comparison& one : together) {
      const auto holds_here = evaluate_one(one, facts);
      if (!holds_here) return holds_here;
      hold_together = hold_together && *holds_here;
    }
    result = result || hold_together;
  }
  return result;
}

std::expected<std::vector<std::string>, std::string> names_in(std::string_view condition) {
  const auto alternatives = alternatives_of(condition);
  if (!alternatives) return std::unexpected(alternatives.error());
  std::vector<std::string> names;
  const auto add = [&](const Product& product) {
    for (std::size_t i = 0; i < product.size(); i += 2)
      if (!literal_number(product[i]) && std::ranges::find(names, product[i]) == names.end())
        names.emplace_back(product[i]);
  };
  for (const Together& together : *alternatives)
    for (const Comparison& one : together)
      for (const Operand* side : {&one.left, &one.right}) std::ranges::for_each(*side, add);
  return names;
}

bool holds(std::string_view condition, const Facts& facts) {
  const auto result = evaluate(condition, facts);
  COLLAGE_CHECK(result.has_value(), result.error());
  return *result;
}

}  // namespace collage::native
