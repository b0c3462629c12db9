// How long kernels take that are made slowly, as it turned out so far, and how many are made in a time.
// In:  how many were made, and the seconds that took, sampling them included. Out: counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace collage {

class MakingPace {
 public:
  void learn(std::size_t made, double seconds) {
    if (made == 0 || !std::isfinite(seconds)) return;
    made_ += made;
    seconds_ += std::max(seconds, 0.0);
  }

  /// Any number as long as none was made.
  [[nodiscard]] std::size_t count_in(double seconds) const {
    if (seconds <= 0) return 0;
    if (made_ == 0 || seconds * static_cast<double>(made_) >= kMany * seconds_) return kAny;
    return static_cast<std::size_t>(seconds * static_cast<double>(made_) / seconds_);
  }

  /// As many at once; few as long as none was made, because they tell how long the others take. Two at least.
  [[nodiscard]] std::size_t chunk_in(double seconds) const {
    if (!std::isfinite(seconds)) return kAny;
    return made_ == 0 ? kFirst : std::max(kLeast, count_in(seconds));
  }

 private:
  static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  static constexpr double kMany = 1e6;
  static constexpr std::size_t kFirst = 4;
  static constexpr std::size_t kLeast = 2;

  std::size_t made_ = 0;
  double seconds_ = 0;
};

}  // namespace collage
