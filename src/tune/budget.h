// Divides the seconds of a tune among its parts. What measuring leaves over is for contests and level 2; some of it is
// reserved for writing the plan.
// In:  seconds. Out: points in time.
#pragma once

#include <algorithm>
#include <chrono>

#include "worker/frame.h"

namespace collage {

class Budget {
 public:
  static constexpr double kPricingShare = 0.76;
  static constexpr double kMeasuringShare = 0.8;  ///< of single operators, so that a cover exists
  static constexpr double kCoversShare = 0.85;    ///< then the first plan has to do
  static constexpr double kContestShare = 0.95;
  static constexpr double kStopShare = 0.98;
  static constexpr double kMostShare = 1.05;  ///< a tune that takes longer reports it

  /// The time begins now.
  explicit Budget(double seconds) : seconds_(seconds) {}

  [[nodiscard]] double seconds() const { return seconds_; }
  /// What a tune may take, from importing the model to its exit.
  [[nodiscard]] double most_s() const { return kMostShare * seconds_ + kMostSeconds; }
  [[nodiscard]] double total_s() const { return Seconds(Clock::now() - start_).count(); }
  /// The part of a run below which a saving is not looked for: the more time there is, the smaller.
  [[nodiscard]] double least_saving() const {
    return std::clamp(kSavedSeconds / seconds_, kLeastSavingOfLong, kLeastSavingOfShort);
  }
  /// Of the budget: what was set aside does not count.
  [[nodiscard]] double elapsed_s() const { return total_s() - aside_s_; }
  [[nodiscard]] bool is_past(double share) const { return elapsed_s() > end_of(share); }
  /// Only the best cover is made: choosing others, and making them, would take the time of making it.
  [[nodiscard]] bool is_late_for_covers() const {
    const double needed_s = std::min(kSecondsOfCovers, kShareOfCovers * seconds_);
    return is_past(kMeasuringShare) || end_of(kCoversShare) - elapsed_s() < needed_s;
  }
  /// The moment when this share is used up.
  [[nodiscard]] Clock::time_point after(double share) const {
    return start_ + std::chrono::duration_cast<Clock::duration>(Seconds(end_of(share) + aside_s_));
  }
  /// What comes after the covers will take so long: what comes before ends earlier for it.
  void reserve(double seconds) { reserved_s_ = seconds; }
  /// There is nothing more to measure, however much time is left.
  void end_measuring() { is_measuring_over_ = true; }
  /// For work that has its own time.
  void set_aside(double seconds) { aside_s_ += seconds; }

 private:
  /// For choosing among covers of all sets of backends and making some of them: the less of these two.
  static constexpr double kSecondsOfCovers = 5;
  static constexpr double kShareOfCovers = 0.25;
  static constexpr double kMostSeconds = 2;  ///< beyond kMostShare
  /// A thousandth where a minute is given or less, a tenth of that from ten minutes on.
  static constexpr double kSavedSeconds = 0.06;
  static constexpr double kLeastSavingOfShort = 1e-3;
  static constexpr double kLeastSavingOfLong = 1e-4;
  /// Of measuring and of covers, however much is reserved.
  static constexpr double kLeastShare = 0.3;

  /// Seconds after the start.
  [[nodiscard]] double end_of(double share) const {
    if (is_measuring_over_ && share <= kMeasuringShare) return 0;
    const double end_s = share * seconds_;
    if (share > kCoversShare) return end_s;
    return std::min(end_s, share / kCoversShare * std::max(kLeastShare * seconds_, seconds_ - reserved_s_));
  }

  Clock::time_point start_ = Clock::now();
  double seconds_;
  double aside_s_ = 0;
  double reserved_s_ = 0;
  bool is_measuring_over_ = false;
};

}  // namespace collage
