// Conditions over named numbers, as text: "kernel_h == 3 and channels >= 32".
// In: a text and facts. Out: whether it holds.
//   condition = term {"or" term}   term = comparison {"and" comparison}
//   comparison = operand ("==" | "!=" | "<=" | ">=" | "<" | ">") operand
//   operand = product {"+" product}   product = (NAME | NUMBER) {("*" | "%") (NAME | NUMBER)}
// In what is built in a name without a fact is a bug; what comes from elsewhere is evaluated, which says what is wrong.
// Cost: linear in the text.
// Source: the specialisation conditions of TVM's operator strategies.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "compiler/site.h"

namespace collage::native {

/// Whether it holds, or what is no condition over these facts.
[[nodiscard]] std::expected<bool, std::string> evaluate(std::string_view condition, const Facts& facts);
/// Its names, in order, each once; or what is wrong with the text.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> names_in(std::string_view condition);
/// evaluate() where anything wrong is a bug.
[[nodiscard]] bool holds(std::string_view condition, const Facts& facts);

}  // namespace collage::native
