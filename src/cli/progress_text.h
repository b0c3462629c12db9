// Formats progress: as a bar in a terminal, as lines in a log.
#pragma once

#include <cstddef>
#include <string>

#include "base/progress.h"

namespace collage::cli {

/// "90 s left", "12 min left".
[[nodiscard]] std::string time_left_text(double seconds);

/// "12/40, 3 refused, 28 left, best 812.0 us, 35 s left": what is known of it; may be empty.
[[nodiscard]] std::string counts_text(const ProgressEvent& event);

/// Phase, bar and counts, no longer than `columns` as far as the text is plain ASCII.
[[nodiscard]] std::string bar_text(const ProgressEvent& event, std::size_t columns);

/// One line of a log: phase and counts.
[[nodiscard]] std::string line_text(const ProgressEvent& event);

}  // namespace collage::cli
