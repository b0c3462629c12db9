// Changes text word by word: words and signs are exchanged, removed, repeated, nested; at times bytes.
#pragma once

#include <string>

#include "tests/support/dice.h"

namespace collage::test {

/// One to a few changes; `other` lends words.
[[nodiscard]] std::string mutated_text(const std::string& text, const std::string& other, Dice& dice);

}  // namespace collage::test
