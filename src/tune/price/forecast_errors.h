// Learns how far below their forecasts times are, in parts of the deviations that the cost model gives.
// In:  forecasts and the times measured then. Out: a factor for the deviations of later forecasts, by backend.
// How: the model adds what is uncertain of every effect. Where a model like this one was tuned before, effects err
//       together, and much less than that. Here deviations only matter for how much less a time may be than its
//       forecast, so the factor is the semideviation below the forecast. A time above it counts as one that is not
//       below: where most are, as of candidates that were chosen because their forecasts are low, little may be hoped
//       for of others. Times that were forecast by one fit may all be below because of one effect, which the next fit
//       knows: what is below in their mean counts as one time, and of each what is below that.
// Cost: constant.
// Source: dispersion estimated from standardised residuals, McCullagh and Nelder, Generalized Linear Models, 1989, with
//       the lower semivariance, Markowitz, Portfolio Selection, 1959. That a few residuals count for little follows
//       from a prior of kPriorCount of them, which also keeps the factor away from zero.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace collage {

class ForecastErrors {
 public:
  /// `surprise`: the logarithm of time over forecast, in deviations of the forecast.
  void add(const std::string& backend, double surprise);
  /// To be called when forecasts are made anew; until then factors do not know what was added.
  void fit();
  /// 1 where nothing was seen.
  [[nodiscard]] double factor(const std::string& backend) const;

 private:
  struct Seen {
    double count = 0;    ///< of surprises; older ones weigh less
    double squares = 0;  ///< of what is below, weighted alike

    void add(double below);
  };

  std::map<std::string, Seen> seen_;
  std::map<std::string, std::vector<double>> latest_;  ///< surprises by backend, never empty
};

}  // namespace collage
