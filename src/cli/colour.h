// Colours of what is printed on a terminal: ratios by whether their interval is above or below 1, errors, the bar.
// Source: no-color.org.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace collage::cli {

enum class Colour : std::uint8_t { kGood, kBad, kBar };

/// Whether a terminal shows what is written to the descriptor and the user does not forbid colours: $NO_COLOR is empty,
/// $TERM is not "dumb".
[[nodiscard]] bool shows_colours(int descriptor);

[[nodiscard]] std::string coloured(std::string_view text, Colour colour);

/// "1.17x [1.15, 1.18]" is good, "0.91x [0.90, 0.93]" bad, a ratio whose interval holds 1 neither.
[[nodiscard]] std::string with_coloured_ratios(std::string_view report);

}  // namespace collage::cli
