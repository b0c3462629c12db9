#include "measure/candidate_judge.h"

#include <fmt/ranges.h>

#include "backend/roles.h"
#include "measure/candidate_setup.h"
#include "numbers/rounding_slack.h"
#include "numbers/view_check.h"
#include "worker/resource_check.h"

namespace collage {
namespace {

/// What compiling the region for the reference and running it may take.
constexpr std::int64_t kExpectNs = 3'000'000'000;

SharedInputSets no_sets() { return std::make_shared<const std::vector<InputSet>>(); }

std::vector<Tensor> recorded_of(const std::vector<TrialPort>& ports) {
  std::vector<Tensor> recorded;
  for (const TrialPort& port : ports) recorded.push_back(port.recorded);
  return recorded;
}

}  // namespace

void CandidateJudge::judge_recorded(JobCandidate& candidate) {
  if (candidate.is_refused()) return;
  if (is_view(candidate.spec)) return judge_view(candidate);
  judge_on("verify", candidate, nullptr);
}

void CandidateJudge::judge(JobCandidate& candidate) {
  judge_recorded(candidate);
  if (!candidate.trial || run_.subject.conversion) return;
  for (const InputSet& set : sets(candidate)) judge_on("verify", candidate, &set);
  if (candidate.trial && !sets(candidate).empty())
    run_.accept(candidate, candidate.trial->restore(run_.bench.converter()));
}

void CandidateJudge::judge_again(JobCandidate& candidate) {
  if (!candidate.trial) return;
  const Usage before = usage_now();
  judge_numbers_again(candidate);
  if (candidate.trial)
    if (auto refusal = check_resources(before, run_.job.options.threads, [&] { return run_.run_guarded(candidate); })) {
      run_.harmed = true;
      run_.refuse(candidate, *std::move(refusal));
    }
  run_.settle(candidate);
}

void CandidateJudge::judge_numbers_again(JobCandidate& candidate) {
  judge_on("verify again", candidate, nullptr);
  if (!sets_) return;
  for (const InputSet& set : *sets_)
    if (set.is_cheap) return judge_on("verify again", candidate, &set);
}

void CandidateJudge::judge_on(const char* stage, JobCandidate& candidate, const InputSet* set) {
  if (!candidate.trial) return;
  run_.begin(stage, candidate, candidate.trial->checked_ns());
  if (slacks_) candidate.trial->widen(*slacks_);
  auto failed = candidate.trial->check(run_.bench.converter(), set);
  // Most regions are right without, and their candidates need no run of the reference for it.
  const bool may_be_slack = failed && failed->refusal.reason == RefusalReason::kWrongResult && !failed->harmful;
  if (may_be_slack && !slacks_ && !slacks(candidate).empty()) {
    candidate.trial->widen(*slacks_);
    run_.begin(stage, candidate, candidate.trial->checked_ns());
    failed = candidate.trial->check(run_.bench.converter(), set);
  }
  run_.accept(candidate, std::move(failed));
}

/// Empty where nothing is rounded inside of the region.
const std::vector<double>& CandidateJudge::slacks(const JobCandidate& candidate) {
  if (slacks_) return *slacks_;
  slacks_.emplace();
  const PriceSubject& subject = run_.subject;
  const auto reference = run_.bench.registry().get(kReferenceEngine);
  if (subject.conversion || !reference) return *slacks_;
  run_.context.begin("expect", -1, kExpectNs);
  *slacks_ = region_slacks(*subject.graph, *subject.uses, subject.region, recorded_of(subject.inputs),
                           recorded_of(subject.outputs), **reference);
  run_.begin("verify", candidate);
  return *slacks_;
}

void CandidateJudge::judge_view(JobCandidate& candidate) {
  const PriceSubject& subject = run_.subject;
  if (subject.conversion) return run_.refuse(candidate, RefusalReason::kStructure, "a view is no conversion");
  judge_view_on(candidate, recorded_of(subject.inputs), recorded_of(subject.outputs));
  for (const InputSet& set : sets(candidate)) judge_view_on(candidate, set.inputs, set.expected);
  if (candidate.is_refused()) return;
  if (run_.job.effort != Effort::kPrepare) candidate.answer.cost = Measured{.samples = 1};
}

void CandidateJudge::judge_view_on(JobCandidate& candidate, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& outputs) {
  const ViewPorts view{.graph = *run_.subject.graph,
                       .region = run_.subject.region,
                       .variant = candidate.spec.variant,
                       .inputs = inputs,
                       .outputs = outputs};
  if (auto refusal = collage::judge_view(view, run_.bench.converter(), run_.job.options.threads))
    run_.refuse(candidate, *std::move(refusal));
}

/// Made when the first candidate needs them, if no job before did; none without a reference. A death while they are
/// made says nothing about a candidate.
const std::vector<InputSet>& CandidateJudge::sets(const JobCandidate& candidate) {
  if (!sets_) sets_ = run_.subject.conversion || run_.job.judging.recorded_only ? no_sets() : expected_sets(candidate);
  return *sets_;
}

SharedInputSets CandidateJudge::expected_sets(const JobCandidate& candidate) {
  const PriceJob& job = run_.job;
  const std::string key = fmt::format("{} {} {} {}", job.target.nodes, job.target.repeated,
                                      name_of(job.options.accuracy), job.judging.seed);
  SharedInputSets made = run_.bench.input_sets().find(key);
  if (made) return made;
  run_.context.begin("expect", -1, kExpectNs);
  if (const auto reference = run_.bench.registry().get(kReferenceEngine)) {
    const PriceSubject& subject = run_.subject;
    made = std::make_shared<const std::vector<InputSet>>(
        make_input_sets(*subject.graph, *subject.uses, subject.region, recorded_of(subject.inputs), **reference,
                        {.accuracy = job.options.accuracy, .seed = job.judging.seed}));
    run_.bench.input_sets().add(key, made);
  }
  run_.begin("verify", candidate);
  return made ? made : no_sets();
}

}  // namespace collage
