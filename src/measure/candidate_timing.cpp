#include "measure/candidate_timing.h"

#include <algorithm>

#include "measure/sample_trials.h"

namespace collage {
namespace {

/// A round is not begun while the processor is slower than in a quiet moment by more than this, but no job waits longer
/// than this part of what its timing takes: on a machine that is never quiet waiting gains nothing.
constexpr double kMostSlowness = 1.25;
constexpr std::int64_t kPatienceShare = 20;
/// Runs for the figure with warm caches, after one more.
constexpr int kWarmRuns = 3;
/// What displacing the caches may take.
constexpr std::int64_t kDisplaceNs = 50'000'000;
/// A sign of life while candidates are timed, so that one that hangs is noticed soon.
constexpr std::int64_t kReportNs = 100'000'000;

/// What timing will take.
struct ExpectedTime {
  std::int64_t all_ns = 0;
  std::int64_t longest_ns = 0;  ///< of one sample
};

ExpectedTime expected_time(std::span<JobCandidate* const> live, const SamplingOptions& options) {
  ExpectedTime expected;
  for (const JobCandidate* candidate : live) {
    const std::int64_t one_ns = candidate->trial->checked_ns() + kDisplaceNs;
    expected.all_ns +=
        options.warm_up_ns + options.min_total_ns + static_cast<std::int64_t>(options.min_samples) * one_ns;
    expected.longest_ns = std::max(expected.longest_ns, one_ns);
  }
  return expected;
}

/// Tells the supervisor now and then that candidates are being timed.
class SignOfLife {
 public:
  SignOfLife(JobContext& context, std::int64_t longest_ns) : context_(context), longest_ns_(longest_ns) {}

  /// `patience_ns`: what may be spent on waiting until the next one.
  void report(std::int64_t patience_ns) {
    if (monotonic_ns() - reported_ns_ < kReportNs) return;
    context_.begin("sample", -1, kReportNs + longest_ns_ + patience_ns);
    reported_ns_ = monotonic_ns();
  }

 private:
  JobContext& context_;
  std::int64_t longest_ns_;  ///< that one contender takes between two reports
  std::int64_t reported_ns_ = 0;
};

/// Finds who of the timed candidates changes how this thread computes.
class FloatGuard {
 public:
  FloatGuard(const StateWatch& watch, std::size_t candidates) : watch_(watch), spoilt_(candidates, false) {}

  /// Before `next` runs.
  void pass_to(std::size_t next) {
    settle();
    last_ = next;
  }
  void settle() {
    if (watch_.settle_float_control()) spoilt_[last_] = true;
  }
  [[nodiscard]] bool is_spoilt(std::size_t candidate) const { return spoilt_[candidate]; }

 private:
  const StateWatch& watch_;
  std::vector<bool> spoilt_;
  std::size_t last_ = 0;
};

/// Nanoseconds of one run, by the clock that times the candidate's samples.
Result<std::int64_t> timed_run(PriceRun& run, JobCandidate& candidate) {
  if (candidate.trial->is_queued()) return run.time_guarded(candidate, 1);
  const std::int64_t begin = monotonic_ns();
  COLLAGE_TRY_VOID(run.run_guarded(candidate));
  return monotonic_ns() - begin;
}

/// The median of a few runs that follow each other, with everything in the caches that fits; 0 when one fails, which
/// the check to come will find.
std::int64_t warm_ns(PriceRun& run, JobCandidate& candidate) {
  run.context.mark(candidate.index);
  std::vector<std::int64_t> samples;
  for (int warm_run = 0; warm_run <= kWarmRuns; ++warm_run) {
    const auto ns = timed_run(run, candidate);
    if (!ns) return 0;
    if (warm_run > 0) samples.push_back(std::max<std::int64_t>(1, *ns));
  }
  return summarise(std::move(samples)).median_ns;
}

std::vector<Result<Timing>> sample(PriceRun& run, std::span<JobCandidate* const> live, FloatGuard& floats) {
  SamplingOptions options = run.job.effort == Effort::kSample ? short_sampling() : quick_sampling();
  options.seed = run.job.judging.seed;
  const ExpectedTime expected = expected_time(live, options);
  std::int64_t patience_ns = expected.all_ns / kPatienceShare;
  SignOfLife life(run.context, options.warm_up_ns + expected.longest_ns);
  life.report(patience_ns);
  const TrialSampling sampling{
      .run = [&](std::size_t k) { return run.run_guarded(*live[k]); },
      .trial_of = [&](std::size_t k) { return &*live[k]->trial; },
      .time_queued = [&](std::size_t k, std::int64_t runs) { return run.time_guarded(*live[k], runs); },
      .before =
          [&](std::size_t k) {
            floats.pass_to(k);
            life.report(patience_ns);
            run.context.mark(live[k]->index);
            wait_for_quiet(run.bench.canary(), kMostSlowness, patience_ns);
          },
      .displaced_bytes = run.job.timing.displaced_bytes,
      .threads = run.job.options.threads};
  auto results = sample_trials(live.size(), sampling, run.bench, options);
  floats.settle();
  return results;
}

void keep_timing(PriceRun& run, JobCandidate& candidate, Result<Timing> timing) {
  if (!timing) return run.refuse(candidate, RefusalReason::kCompile, "run: " + timing.error().saw);
  if (run.job.effort == Effort::kSample) {
    candidate.answer.cost = Estimated{.ns = std::ranges::min(timing->samples_ns), .is_sampled = true};
    return;
  }
  candidate.answer.cost = timing->summary;
  candidate.answer.samples.ns = std::move(timing->samples_ns);
  if (run.job.timing.displaced_bytes > 0) candidate.answer.samples.warm_ns = warm_ns(run, candidate);
}

}  // namespace

void time_candidates(PriceRun& run, std::span<JobCandidate> candidates) {
  std::vector<JobCandidate*> live;
  for (JobCandidate& candidate : candidates)
    if (candidate.trial) live.push_back(&candidate);
  if (live.empty()) return;
  FloatGuard floats(run.watch, live.size());
  auto results = sample(run, live, floats);
  for (std::size_t k = 0; k < live.size(); ++k) {
    const bool ran = results[k].has_value();
    keep_timing(run, *live[k], std::move(results[k]));
    if (!ran || !floats.is_spoilt(k)) continue;
    run.harmed = true;
    run.refuse(*live[k], RefusalReason::kWrongResult, "changed the process: rounding or flush-to-zero");
  }
  // Who did it shows when each runs once more.
  if (!run.watch.settle().empty()) run.harmed = true;
}

}  // namespace collage
