// Changes JSON value by value: numbers, texts, types, keys, entries of lists. What comes out is JSON, so that readers
// get behind the parser; at times it is nested very deep, or has numbers beyond every type.
#pragma once

#include <string>

#include "base/json_numbers.h"
#include "tests/support/dice.h"

namespace collage::test {

/// Text of one to three changes of `json`.
[[nodiscard]] std::string mutated_json(nlohmann::json json, Dice& dice);
/// The same for text; changed as bytes where it is no JSON.
[[nodiscard]] std::string mutated_json_text(const std::string& text, Dice& dice);

}  // namespace collage::test
