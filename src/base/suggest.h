// "Did you mean": the known word nearest to one that is not known.
// In: a word, the words that would have been right. Out: one of them, or nothing when none is near.
// Cost: the product of the two lengths for each known word.
// Source: optimal string alignment distance (Damerau, 1964): insert, delete, replace, swap two neighbours; case is
// free.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace collage {

/// The known word that takes the fewest edits, if that is at most a third of the letters (and one at least); the first
/// of equals. A known word that begins with `word`, of three letters or more, counts as near, too.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

/// "; did you mean NEAREST?", or nothing: to put behind what a message says it saw.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace collage
