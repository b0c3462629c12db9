// Takes one timing sample: calls of one contender are timed as a whole, pinned to their processors, with the
// disturbances that the system reports. Also the random order of a round. All timing, of candidates and of plans, goes
// through it.
// In:  a call. Out: a sample.
// Two experiments use it. race.h times contenders round by round until paired ratios show which is faster; sampling.h
// takes medians that are comparable between sessions, as costs have to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "timing/noise.h"
#include "timing/smt_watch.h"

namespace collage {

/// Of the processor core, as far as hardware threads of others show (smt_watch.h).
enum class CoreUse : std::uint8_t {
  kAlone,
  kShared,   ///< when the calls began
  kChanged,  ///< alone then, shared when they ended
};

struct BatchTime {
  std::int64_t elapsed_ns = 1;  ///< of all calls; at least 1
  bool disturbed = false;
  CoreUse core = CoreUse::kAlone;
};

/// One thread.
class SampleClock {
 public:
  struct Options {
    std::function<std::int64_t()> now_ns = monotonic_ns;
    std::function<double()> slowness = {};  ///< of the processor now, 1 in a quiet moment; empty = 1
    int threads = 0;                        ///< calls are made pinned to so many processors; 0 = not pinned
    NoiseWatch* noise = nullptr;            ///< null = nothing counts as a disturbance
    SmtWatch* smt = nullptr;                ///< calls wait for it; null = the core is never shared
  };
  explicit SampleClock(Options options) : options_(std::move(options)) {}

  /// Makes so many calls. The error of the first one that fails.
  [[nodiscard]] Result<BatchTime> time(const std::function<Result<void>()>& call, std::int64_t calls) const;
  /// The same for calls that another process makes and times: `call` gets their number and returns the nanoseconds.
  [[nodiscard]] Result<BatchTime> time_elsewhere(const std::function<Result<std::int64_t>(std::int64_t)>& call,
                                                 std::int64_t calls) const;
  [[nodiscard]] double slowness() const { return options_.slowness ? options_.slowness() : 1.0; }
  [[nodiscard]] std::int64_t now_ns() const { return options_.now_ns(); }

 private:
  Options options_;
};

/// The contenders of a round in fresh random order, so that whatever disturbs the machine disturbs all alike.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random);

}  // namespace collage
