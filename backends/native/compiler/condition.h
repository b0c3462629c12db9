// Conditions over named numbers, as text: "kernel_h == 3 and channels >= 32".
// In: a text and facts. Out: whether it holds.
//   condition = term {"or" term}   term = comparison {"and" comparison}
//   comparison = operand ("==" | "!=" | "<=" | ">=" | "<" | ">") operand
//   operand = (NAME | NUMBER) {("*" | "%") (NAME | NUMBER)}
// A name without a fact is a bug: conditions are part of the program.
// Cost: linear in the text.
// Source: the specialisation conditions of TVM's operator strategies.
#pragma once

#include <string_view>

#include "compiler/site.h"

namespace collage::native {

[[nodiscard]] bool holds(std::string_view condition, const Facts& facts);

}  // namespace collage::native
