#include "measure/price_job.h"

#include "measure/candidate_judge.h"
#include "measure/candidate_setup.h"
#include "measure/candidate_timing.h"
#include "measure/price_run.h"
#include "worker/resource_check.h"

namespace collage {
namespace {

std::string compiled_before(const PriceJob& job, std::size_t candidate) {
  return candidate < job.compiled.size() ? job.compiled[candidate] : std::string();
}

bool is_verified(const PriceJob& job, const JobCandidate& candidate) {
  const auto index = static_cast<std::size_t>(candidate.index);
  return index < job.judging.verified.size() && job.judging.verified[index];
}

/// Before its time is taken, if it is.
void judge_first(const PriceJob& job, CandidateJudge& judge, JobCandidate& candidate) {
  if (job.effort == Effort::kCompile) return;
  if (job.effort == Effort::kSample || is_verified(job, candidate))
    judge.judge_recorded(candidate);
  else
    judge.judge(candidate);
}

std::vector<JobCandidate> candidates_of(const PriceJob& job) {
  std::vector<JobCandidate> candidates;
  for (const CandidateSpec& spec : job.candidates)
    candidates.push_back({.spec = spec,
                          .index = static_cast<std::int32_t>(candidates.size()),
                          .compiled = compiled_before(job, candidates.size())});
  return candidates;
}

/// Taking a library's kernel down can kill too, so it is part of the job.
std::vector<CandidateAnswer> unload(PriceRun& run, std::vector<JobCandidate>& candidates) {
  std::vector<CandidateAnswer> answers;
  for (JobCandidate& candidate : candidates) {
    run.begin("unload", candidate);
    candidate.trial.reset();
    run.settle(candidate);
    answers.push_back(std::move(candidate.answer));
  }
  run.context.mark(-1);
  return answers;
}

}  // namespace

Result<PriceAnswer> run_price_job(const PriceJob& job, Workbench& bench, JobContext& context) {
  COLLAGE_TRY(const PriceSubject subject, price_subject(job, bench));
  PriceRun run{.job = job, .subject = subject, .bench = bench, .context = context};
  bench.canary().learn(job.timing.quiet_ns);
  std::vector<JobCandidate> candidates = candidates_of(job);
  CandidateSetup setup(run);
  CandidateJudge judge(run);
  for (JobCandidate& candidate : candidates) {
    setup.set_up(candidate);
    judge_first(job, judge, candidate);
    run.settle(candidate);
  }
  if (job.effort == Effort::kSample || job.effort == Effort::kTime) time_candidates(run, candidates);
  if (job.effort == Effort::kTime)
    for (JobCandidate& candidate : candidates) judge.judge_again(candidate);
  PriceAnswer answer{.quiet_ns = bench.canary().quiet_ns()};
  answer.candidates = unload(run, candidates);
  answer.harmed = run.harmed || has_leaked_much();
  return answer;
}

}  // namespace collage
