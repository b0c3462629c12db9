// Times contenders against each other: every round runs each of them once in fresh random order, so that what
// disturbs the machine disturbs all alike. Decisions use ratios paired by round.
// Source: DESIGN of measuring in docs/ARCHITECTURE.md; pairing after Duet benchmarking.
// In: contenders, seconds. Out: samples by round, ratios.
// Cost: the seconds given.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"

namespace collage {

struct Contender {
  std::string name;
  std::function<Result<void>()> run;  ///< one inference on inputs already in place
};

struct RaceOptions {
  std::size_t min_rounds = 15;
  std::size_t max_rounds = 400;
  double seconds = 3.0;                  ///< aimed at; min_rounds go first
  std::int64_t min_sample_ns = 200'000;  ///< short runs are repeated inside one sample
  /// Runs before each sample that are not timed, at least one: they bring back the caches and the predictions that the
  /// others took, so that a sample is of the contender's own steady state.
  std::int64_t heat_ns = 3'000'000;
  std::uint64_t seed = 1;
  /// Of the processor now, 1 in a quiet moment: samples are divided by it, so that they compare with costs. Empty = 1.
  std::function<double()> slowness;
  std::stop_token stop;
};

struct RaceLane {
  std::string name;
  std::vector<std::int64_t> samples_ns;  ///< one per round, same order for all lanes
  [[nodiscard]] std::int64_t median_ns() const;
  [[nodiscard]] std::int64_t quantile_ns(double q) const;
};

/// How many times faster `fast` is than `slow`, with a 95 % interval from a bootstrap over the paired rounds.
struct Ratio {
  double ratio = 1;
  double low = 1;
  double high = 1;
};
[[nodiscard]] Ratio paired_ratio(const RaceLane& slow, const RaceLane& fast);
/// The same without the interval; 1 when one of them has no samples.
[[nodiscard]] double median_ratio(const RaceLane& slow, const RaceLane& fast);

/// Error of the first contender whose run fails.
[[nodiscard]] Result<std::vector<RaceLane>> race(const std::vector<Contender>& contenders, const RaceOptions& options);

}  // namespace collage
