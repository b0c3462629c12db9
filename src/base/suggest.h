// Finds the known word that is most similar to an unknown one, for "did you mean" in messages.
// In:  a word and the valid words. Out: one of the valid words, or nothing when none is similar.
// Cost: the product of the two lengths for each valid word.
// Source: optimal string alignment distance (Damerau 1964): insertion, deletion, substitution, transposition of
//       neighbours; upper and lower case count as equal.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace collage {

/// The known word with the fewest edits, if these are at most a third of the letters (and at least one); of several the
/// first. A known word that begins with `word`, of three letters or more, counts as similar too.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

/// "; did you mean NEAREST?" or nothing, to be appended to what a message says was seen.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace collage
