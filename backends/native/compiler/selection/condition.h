// Conditions over named numbers, as text: "kernel_h == 3 and channels >= 32".
// In:  a text and facts. Out: whether it holds; or its comparisons one by one.
//   condition = term {"or" term}   term = comparison {"and" comparison}
//   comparison = operand ("==" | "!=" | "<=" | ">=" | "<" | ">") operand
//   operand = product {"+" product}   product = (NAME | NUMBER) {("*" | "%") (NAME | NUMBER)}
// In a built-in condition, a name without a fact is a bug (holds()). A condition from outside is checked, and what is
// wrong is reported (evaluate()).
// Cost: linear in the text.
// Source: the specialisation conditions of TVM's operator strategies.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/analysis/site.h"

namespace collage::native {

/// Names, numbers, and "*" or "%" between them; taken from left to right.
using Product = std::vector<std::string_view>;
/// A sum of products.
using Operand = std::vector<Product>;

struct Comparison {
  Operand left;
  std::string_view sign;
  Operand right;
};

/// Comparisons that hold together.
using Together = std::vector<Comparison>;

/// One list for each alternative, views of the text; or what is wrong with it.
[[nodiscard]] std::expected<std::vector<Together>, std::string> alternatives_of(std::string_view condition);

/// The number that a word says; nothing for a name.
[[nodiscard]] std::optional<std::int64_t> literal_number(std::string_view word);

/// Whether it holds, or what is wrong with it: the whole condition is checked, even where a part of it decides.
[[nodiscard]] std::expected<bool, std::string> evaluate(std::string_view condition, const Facts& facts);
/// Its names, in order, each once; or what is wrong with the text.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> names_in(std::string_view condition);
/// evaluate() where anything wrong is a bug.
[[nodiscard]] bool holds(std::string_view condition, const Facts& facts);

}  // namespace collage::native
