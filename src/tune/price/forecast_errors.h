// Learns how far below their forecasts times are, in parts of the deviations that the cost model gives.
// In:  forecasts and the times measured then. Out: a factor for the deviations of later forecasts, by backend.
// How: the model adds what is uncertain of every effect. Where a model like this one was tuned before, effects err
//      together, and much less than that. Here deviations only matter for how much less a time may be than its
//      forecast, so the factor is the semideviation below the forecast. A time above it counts as one that is not
//      below: where most are, as of candidates that were chosen because their forecasts are low, little may be hoped
//      for of others.
// Cost: constant.
// Source: dispersion estimated from standardised residuals, McCullagh and Nelder, Generalized Linear Models, 1989, with
//       the lower semivariance, Markowitz, Portfolio Selection, 1959. That a few residuals count for little follows
//       from a prior of kPriorCount of them, which also keeps the factor away from zero.
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
    const double below = std::clamp(-surprise, 0.0, kMostSurprise);
    Seen& seen = seen_[backend];
    seen.count = kMemory * seen.count + 1;
    seen.squares = kMemory * seen.squares + 2 * below * below;  // half of what would be seen on both sides
  }

  /// 1 where nothing was seen.
  [[nodiscard]] double factor(const std::string& backend) const {
    const auto found = seen_.find(backend);
    if (found == seen_.end()) return 1;
    const Seen& seen = found->second;
    return std::min(std::sqrt((kPriorCount + seen.squares) / (kPriorCount + seen.count)), kMost);
  }

 private:
  static constexpr double kPriorCount = 2;
  /// What a surprise weighs at the next one: the first ones come from effects that the model then learns.
  static constexpr double kMemory = 0.95;
  static constexpr double kMostSurprise = 3;
  static constexpr double kMost = 1.5;

  struct Seen {
    double count = 0;  ///< weighted by kMemory, like
    double squares = 0;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace collage
