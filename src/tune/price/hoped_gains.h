// Computes how much the best cover would gain if given kernels reached a hoped-for time. A kernel that brings no gain
// even then is not worth tuning.
// In:  a request with costs, groups of candidates and their hoped-for times. Out: for each group, the gain of the cover
//       in nanoseconds.
// How: the search runs with the hoped-for times. Many groups are tried at once, because groups that bring no gain
//       together bring none alone.
// Cost: one search with a limited number of states for each group that brings a gain, few for all others.
// Source: the trials of lazy_pricing.h.
#pragma once

#include <span>
#include <vector>

#include "tune/price/covers.h"

namespace collage {

/// Hopes tried at once to begin with.
inline constexpr std::size_t kTogether = 16;
/// A cover gains when it gets better by more than this part.
inline constexpr double kGain = 0.0002;
/// States of one search of a trial: a hope is not worth a search to the end where that takes seconds.
inline constexpr std::size_t kMostTrialStates = 60'000;

struct Hope {
  std::vector<std::size_t> candidates;  ///< of the request's pool
  std::int64_t ns = 0;                  ///< that each of them may take at best
};

struct HopedGains {
  std::int64_t best_ns = 0;         ///< of the best cover as things are
  std::vector<std::int64_t> gains;  ///< by hope; 0: not worth it
};

/// Error of the search. `is_over` is asked between searches; what it cuts short gains nothing.
[[nodiscard]] Result<HopedGains> hoped_gains(const CoverRequest& request, std::span<const Hope> hopes,
                                             const std::function<bool()>& is_over);

}  // namespace collage
