// Learns how far below their forecasts times are, in parts of the deviations that the cost model gives.
// In:  forecasts and the times that were measured then. Out: a factor for the deviations of later forecasts, by
// backend. How: the model adds what is uncertain of every effect. Where a model like this one was tuned before, effects
// err
//       together, and much less than that. Only times below their forecast count: that one was longer than expected is
//       no reason to hope for more of others.
// Cost: constant.
// Source: dispersion estimated from standardised residuals, McCullagh and Nelder, Generalized Linear Models, 1989; that
//       a few residuals count for little follows from a prior of kPriorCount of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace collage {

class ForecastErrors {
 public:
  /// `surprise`: the logarithm of time over forecast, in deviations of the forecast.
  void add(const std::string& backend, double surprise) {
    if (surprise >= 0) return;
    Seen& seen = seen_[backend];
    ++seen.count;
    seen.squares += std::min(surprise * surprise, kMostSurprise * kMostSurprise);
  }

  /// 1 where nothing was seen.
  [[nodiscard]] double factor(const std::string& backend) const {
    const auto found = seen_.find(backend);
    if (found == seen_.end()) return 1;
    const Seen& seen = found->second;
    return std::clamp(std::sqrt((kPriorCount + seen.squares) / (kPriorCount + seen.count)), kLeast, kMost);
  }

 private:
  static constexpr double kPriorCount = 8;
  static constexpr double kMostSurprise = 3;
  static constexpr double kLeast = 0.3;
  static constexpr double kMost = 1.5;

  struct Seen {
    double count = 0;
    double squares = 0;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace collage
