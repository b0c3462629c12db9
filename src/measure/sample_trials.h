// Times trials, and whole plans beside them, in the way in which costs are measured: before each run of a trial the
// caches are displaced and its ports touched, times are those of an undisturbed processor, and samples that the system
// reports as disturbed do not count.
// In: trials, what runs them. Out: samples (timing/sampling.h). Used for candidates and for a recheck, whose times must
// compare.
#pragma once

#include <functional>
#include <vector>

#include "measure/trial.h"
#include "measure/workbench.h"
#include "timing/sampling.h"

namespace collage {

struct TrialSampling {
  std::function<Result<void>(std::size_t contender)> run;
  std::function<const Trial*(std::size_t contender)> trial_of;  ///< null for what is no trial: nothing is displaced
  /// Of a trial that is queued: nanoseconds of so many runs.
  std::function<Result<std::int64_t>(std::size_t contender, std::int64_t runs)> time_queued;
  std::function<void(std::size_t contender)> before;  ///< as in SamplingSubject
  std::int64_t displaced_bytes = 0;                   ///< 0 = caches stay as they are
  int threads = 1;
};

/// One result per contender, as of sample_all(). All have run before: threads of libraries exist already, where they
/// may run anywhere.
[[nodiscard]] std::vector<Result<Timing>> sample_trials(std::size_t contenders, const TrialSampling& sampling,
                                                        Workbench& bench, const SamplingOptions& options);

}  // namespace collage
