// Times plans and engines against each other. Each round runs every contender once, in a new random order, and
// decisions use the ratios of times within a round. A round in which the system reports a disturbance (noise.h) is
// ignored for all contenders.
// In:  contenders, seconds. Out: samples by round, ratios, verdicts.
// Cost: the given seconds.
// Source: pairing as in Bulej et al., "Duet Benchmarking", 2020.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "timing/paired_test.h"

namespace collage {

struct Contender {
  std::string name;
  std::function<Result<void>()> run;  ///< one inference on inputs already in place
  /// Of a contender in a process of its own: makes so many runs, and returns their nanoseconds by its own clock, so
  /// that no message is timed. Empty: `run` is timed here.
  std::function<Result<std::int64_t>(std::int64_t)> timed_elsewhere = {};
  std::function<void()> renew = {};  ///< moves its buffers to other addresses; called between rounds, may be empty
  /// Of a run before the race, perhaps its first one; 0 = none was timed. A long one need not be repeated to find out
  /// how long runs are.
  std::int64_t ran_ns = 0;
};

/// Enough that no single disturbance determines the median.
inline constexpr std::size_t kFewestRounds = 3;
/// From then on an interval of ratios tells something.
inline constexpr std::size_t kIntervalRounds = 5;
/// kFewestRounds tell so large a ratio, when each of them shows it.
inline constexpr double kFarBehind = 1.5;

/// Other rules for rounds that take long. None of them is discarded: a disturbance is a small part of it.
struct LongRounds {
  double seconds = 0;         ///< a round that takes longer; 0 = none is long
  std::size_t enough = 0;     ///< the race ends after so many, whatever its options say; 0 = it does not
  double hopeless_ratio = 0;  ///< in place of the race's
};

struct RaceOptions {
  std::size_t min_rounds = 15;
  std::size_t max_rounds = 400;
  double seconds = 3.0;     ///< the aim; min_rounds take precedence
  double most_seconds = 0;  ///< ends after these and kFewestRounds, whatever the options above say; 0 = no limit
  std::size_t decided_rounds =
      0;  ///< ends after this many rounds when everything is decided; 0 = runs for all its seconds
  PairedTestOptions test = {};  ///< when a race is decided
  /// With decided_rounds: a contender significantly slower than the best by this ratio is not run any more, nor is one
  /// whose interval (paired_ratio) begins above it after kIntervalRounds, or above kFarBehind after kFewestRounds.
  double beaten_ratio = 1.1;
  /// Likewise after one round, when all its runs so far took more than this many times as long as any of the best's;
  /// 0 = never. No interval can be given for it then. After most_seconds, kFarBehind is enough.
  double hopeless_ratio = 0;
  LongRounds long_rounds = {};
  std::int64_t min_sample_ns = 200'000;  ///< short runs are repeated inside one sample
  /// Untimed runs before each sample, at least one; none when it is 0, or so small a part of one run that the sample
  /// would hardly differ. They restore the caches and branch predictions that the other contenders displaced, so that a
  /// sample shows the contender's steady state.
  std::int64_t heat_ns = 3'000'000;
  int threads = 0;                 ///< samples are taken pinned to so many processors; 0 = not pinned
  bool discards_disturbed = true;  ///< rounds, by cause
  std::uint64_t seed = 1;
  /// Of the processor now, 1 in a quiet moment: medians and quantiles are divided by it, so that they compare with
  /// costs; ratios are not, pairing is better than any correction. Empty = 1.
  std::function<double()> slowness;
  std::stop_token stop;
};

struct RaceLane {
  std::string name;
  std::vector<std::int64_t> samples_ns;  ///< one per round; a lane that was beaten lacks the last ones
  std::vector<double> slowness = {};     ///< of the processor then, by round; empty = 1
  /// Of the samples in a quiet moment.
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

/// Whether `a` is faster than `b`, by their common rounds in order: what a race with these options decides.
[[nodiscard]] Verdict verdict_of(const RaceLane& a, const RaceLane& b, const PairedTestOptions& options = {});
/// The same, and where that is not decided what the interval of their ratio says after kIntervalRounds, or kFarBehind
/// after kFewestRounds: a race of few rounds tells plans apart that differ by much more than its noise.
[[nodiscard]] Verdict likely_verdict(const RaceLane& a, const RaceLane& b, const PairedTestOptions& options = {});

/// Error of the first contender whose run fails.
[[nodiscard]] Result<std::vector<RaceLane>> race(const std::vector<Contender>& contenders, const RaceOptions& options);

}  // namespace collage
