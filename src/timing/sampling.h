// Times several kernels against each other in one process.
// After a warm-up, each round runs every kernel once, in a new random order, so that a disturbance affects all alike.
// Times are scaled to those of an undisturbed processor (canary.h), so that kernels measured in different sessions are
// comparable. A sample is a batch of calls that is long enough for the clock, or a single call where something is done
// before each one (prepare). A kernel that is clearly slow is not sampled further; its samples are kept. A sample is
// discarded only when the system reports a disturbance, never because of its value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "region/cost.h"
#include "timing/sample_clock.h"

namespace collage {

struct SamplingOptions {
  std::int64_t min_sample_ns = 100'000;      ///< a batch takes at least this long
  std::int64_t warm_up_ns = 50'000'000;      ///< most time spent on warming up one contender
  double warm_agreement = 0.05;              ///< two samples that agree this well end the warm-up
  std::size_t min_samples = 9;               ///< of one contender, together with
  std::int64_t min_total_ns = 30'000'000;    ///< the time spent in them; or
  std::size_t few_samples = 5;               ///< this many, when
  std::int64_t long_total_ns = 300'000'000;  ///< they took this long, or when preparing takes longer than the call
  double few_agreement = 0.02;               ///< and the middle half of them lies within this share of the median
  double drop_ratio = 1.5;                   ///< slower than the best by this factor after
  std::size_t drop_rounds = 3;               ///< so many rounds: not sampled further
  std::int64_t touch_ns = 3'000'000;  ///< a call shorter than this is made once, untimed, before each batch: between
                                      ///< two batches others have used the caches, in a plan its input is just made
  std::uint64_t seed = 1;
};

/// For the candidates of a tune: a cheap contender costs a few milliseconds.
[[nodiscard]] SamplingOptions quick_sampling();
/// As few runs as tell a slow one.
[[nodiscard]] SamplingOptions short_sampling();

/// The contenders and the clock; tests use a clock that advances only when they say so.
struct SamplingSubject {
  std::function<Result<void>(std::size_t contender)> run;  ///< one call of a contender
  std::function<std::int64_t()> now_ns;                    ///< monotonic
  std::function<void(std::size_t contender)> before;       ///< called before each batch; must take almost no time
  /// Done before every sample's call, untimed, but counted as time spent; empty = calls follow each other at once.
  std::function<void(std::size_t contender)> prepare = {};
  /// Nanoseconds of so many calls of a contender that another clock times, such as a device's: no slowness of the
  /// processor is in them. Nothing for the other contenders; empty = there are none.
  std::function<std::optional<Result<std::int64_t>>(std::size_t contender, std::int64_t calls)> timed_elsewhere = {};
  std::function<double()> slowness = {};  ///< of the processor now, 1 in a quiet moment; samples are divided by it
  int threads = 0;                        ///< batches are run pinned to so many processors; 0 = not pinned
  NoiseWatch* noise = nullptr;            ///< samples that it finds disturbed do not count; null = all count
  SmtWatch* smt = nullptr;                ///< samples on a shared core do not count where enough others do; likewise
};

/// Of one contender.
struct Timing {
  Measured summary;
  std::vector<std::int64_t> samples_ns;  ///< in the order of measuring
};

/// The time scaled to a quiet moment, by the slowness before and after.
[[nodiscard]] constexpr double in_quiet(std::int64_t ns, double slowness_before, double slowness_after) {
  return static_cast<double>(ns) / ((slowness_before + slowness_after) / 2);
}

/// One result per contender, in order, or the error of the call that failed (the others are still timed). Contender i
/// costs at least two calls.
[[nodiscard]] std::vector<Result<Timing>> sample_all(std::size_t contenders, const SamplingSubject& subject,
                                                     const SamplingOptions& options);

/// Median and quartiles (nearest rank) of at least one sample.
[[nodiscard]] Measured summarise(std::vector<std::int64_t> samples_ns);

}  // namespace collage
