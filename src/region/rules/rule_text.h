// Splits the text of rules into parts: separators, counts, limits.
// In:  text from users or modules. Out: its parts, or nothing when it is malformed.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "region/check_region.h"

namespace collage {

inline constexpr std::string_view kBlanks = " \t\r";

/// Without the blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// The trimmed parts between separators that stand outside brackets and quotes; one empty part for an empty text.
[[nodiscard]] std::vector<std::string_view> parts_of(std::string_view text, char separator);

/// The words of a text; "..." keeps blanks together.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// N of "NAME<=N" for this name, at least one.
[[nodiscard]] std::optional<std::size_t> count_after(std::string_view text, std::string_view name);

/// "nodes<=8, no taps", as to_text(RegionLimits) writes it; else the first limit that is none.
[[nodiscard]] std::expected<RegionLimits, std::string> parse_limits(std::string_view text);
inline constexpr const char* kLimitNames = "nodes<=N, depth<=N, outputs<=N, no taps or no bodies";

}  // namespace collage
