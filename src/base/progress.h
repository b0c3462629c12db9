// The interface through which long operations report progress. Its implementation decides how to show it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace collage {

struct ProgressEvent {
  std::string phase;  ///< "import", "record", "price", "search", "confirm"...
  std::size_t done = 0;
  std::size_t total = 0;  ///< 0 when it cannot be told
  std::size_t refused = 0;
  double best_us = 0;                           ///< best end-to-end time known so far; 0 when none
  std::string rival;                            ///< whom to beat: the fastest engine; empty when not known
  double speedup = 0;                           ///< how many times faster than it the best is
  double bound_us = 0;                          ///< no plan takes less, as far as costs add up; 0 when not known
  std::string note;                             ///< a message of one line, usually empty
  std::optional<double> left_s = std::nullopt;  ///< until the whole work is done, as far as can be told
};

/// Called from the working thread; must return quickly and must not throw.
using Progress = std::function<void(const ProgressEvent&)>;

}  // namespace collage
