#include "measure/candidate_judge.h"

#include <fmt/ranges.h>

#include "backend/roles.h"
#include "measure/candidate_setup.h"
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
  run_.accept(candidate, candidate.trial->check(run_.bench.converter(), set));
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
