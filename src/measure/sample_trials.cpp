#include "measure/sample_trials.h"

namespace collage {

std::vector<Result<Timing>> sample_trials(std::size_t contenders, const TrialSampling& sampling, Workbench& bench,
                                          const SamplingOptions& options) {
  NoiseWatch noise;
  SamplingSubject subject{
      .run = sampling.run,
      .now_ns = monotonic_ns,
      .before = sampling.before,
      .timed_elsewhere = [&sampling](std::size_t contender, std::int64_t runs) -> std::optional<Result<std::int64_t>> {
        const Trial* const trial = sampling.trial_of(contender);
        if (trial == nullptr || !trial->is_queued()) return std::nullopt;
        return sampling.time_queued(contender, runs);
      },
      .slowness = [&bench] { return bench.canary().slowness(); },
      .threads = sampling.threads,
      .noise = &noise,
      .smt = &bench.smt()};
  if (sampling.displaced_bytes > 0)
    subject.prepare = [&sampling, &displacer = bench.displacer(sampling.displaced_bytes)](std::size_t contender) {
      const Trial* const trial = sampling.trial_of(contender);
      if (trial == nullptr || trial->is_queued()) return;  // a device has caches of its own
      trial->displace(displacer);
      trial->touch();
    };
  return sample_all(contenders, subject, options);
}

}  // namespace collage
