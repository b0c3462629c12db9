#include "measure/group_runner.h"

#include <algorithm>

namespace collage {
namespace {

Effort effort_ahead(const PriceGroup& group) {
  return group.effort == Effort::kSample ? Effort::kCompile : Effort::kPrepare;
}

}  // namespace

GroupRunner::GroupRunner(const PricerOptions& options, const MeasureContext& context, Registry& registry, Store& store,
                         AnswerBook& book)
    : options_(options),
      context_(context),
      registry_(registry),
      store_(store),
      book_(book),
      worker_(options.measure.worker_command),
      ahead_(options.measure.worker_command),
      strikes_(store) {}

Result<void> GroupRunner::run(PriceGroup group, const std::stop_token& stop, Answers& answers) {
  int unexplained = 0;
  for (;;) {
    leave_out_blocked(group, answers);
    if (group.pending.empty()) return {};
    PriceJob job = job_for(group, group.effort);
    job.judging.recorded_only = unexplained > 0;
    const auto outcome = worker_.call(to_json(job), allowance_with_leases(), stop);
    if (!outcome) {
      if (outcome.error().stopped) return {};
      if (!blame(outcome.error(), group, answers) && ++unexplained == 2) {
        refuse_all(group, outcome.error().refusal, outcome.error().stage, answers);
        return {};
      }
      continue;
    }
    if (!*outcome) {
      const Error& error = outcome->error();
      if (error.code != "record/no-such-value") return std::unexpected(error);
      refuse_all(group, {.reason = RefusalReason::kShape, .detail = "the record run gave no value " + error.saw}, {},
                 answers);
      return {};
    }
    COLLAGE_TRY(const PriceAnswer answer, price_answer_from(**outcome));
    keep(group, answer, answers);
    quiet_ns_ = answer.quiet_ns;
    if (answer.harmed || worker_.is_bloated()) worker_.stop();
    return {};
  }
}

std::string GroupRunner::compiled_key(const PendingCandidate& pending, const PriceGroup& group) {
  return is_compiler(pending.candidate.backend) ? pending.key : artifact_key(pending.key, group.place);
}

bool GroupRunner::forget_compiled(const PendingCandidate& pending, const PriceGroup& group) {
  return compiled_.erase(compiled_key(pending, group)) > 0;
}

bool GroupRunner::is_compiler(const std::string& backend) {
  const auto found = registry_.get(backend);
  return found && (*found)->info().is_compiler;
}

std::string GroupRunner::compiled_before(const PendingCandidate& pending, const PriceGroup& group) {
  const auto found = compiled_.find(compiled_key(pending, group));
  return found == compiled_.end() ? std::string() : found->second;
}

bool GroupRunner::is_verified(const PendingCandidate& pending, const PriceGroup& group,
                              const std::string& artifact) const {
  const auto found = verified_.find(artifact_key(pending.key, group.place));
  return found != verified_.end() && found->second == artifact;
}

bool GroupRunner::needs_work_ahead(const PendingCandidate& pending, const PriceGroup& group) {
  if (effort_ahead(group) == Effort::kCompile)
    return is_compiler(pending.candidate.backend) && compiled_before(pending, group).empty();
  if (is_verified(pending, group, compiled_before(pending, group))) return false;
  return !is_blocked(pending, group);
}

bool GroupRunner::is_blocked(const PendingCandidate& pending, const PriceGroup& group) {
  const auto backend = registry_.get(pending.candidate.backend);
  return !backend || strikes_.block_of((*backend)->info(), group.operators);
}

void GroupRunner::work_ahead(std::map<std::string, PriceGroup>& groups, Clock::time_point until,
                             const std::stop_token& stop, Answers* answers) {
  // A compiler has one thread. One worker ahead of the other would only do its work twice.
  const bool compiles = !groups.empty() && effort_ahead(groups.begin()->second) == Effort::kCompile;
  const std::size_t width = ahead_.width(compiles ? 1 : options_.measure.threads);
  if (width < 2) return;
  std::vector<PriceJob> jobs;
  std::vector<std::pair<PriceGroup*, PendingCandidate>> asked;
  for (auto& [name, group] : groups)
    for (const PendingCandidate& pending : group.pending) {
      if (!needs_work_ahead(pending, group)) continue;
      PriceGroup alone = group;
      alone.pending = {pending};
      jobs.push_back(job_for(alone, effort_ahead(group)));
      asked.emplace_back(&group, pending);
    }
  if (jobs.size() < 2) return;
  const std::vector<WorkedAhead> done = ahead_.run(jobs, width, allowance(), until, stop);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    auto& [group, pending] = asked[i];
    const bool is_compiled_here = jobs[i].compiled.front().empty();
    if (!settle_ahead(pending, *group, done[i], is_compiled_here, answers)) continue;
    std::erase_if(group->pending, [&](const PendingCandidate& one) { return one.key == pending.key; });
  }
}

bool GroupRunner::settle_ahead(const PendingCandidate& pending, const PriceGroup& group, const WorkedAhead& done,
                               bool is_compiled_here, Answers* answers) {
  const auto* const wrong = done.answer ? std::get_if<Infeasible>(&done.answer->cost) : nullptr;
  if (done.answer && wrong == nullptr) keep_ahead(pending, group, *done.answer);
  // What was compiled at another place of the same structure may know the weights of that place.
  const bool is_wrong_here = wrong != nullptr && is_compiled_here;
  if (!is_wrong_here && !done.hang) return false;
  if (answers == nullptr) {
    if (is_wrong_here) refuse_artifact(pending, group, wrong->refusal, done.answer->stage);
    return false;
  }
  if (is_blocked(pending, group) || !is_ours(pending)) return false;
  if (is_wrong_here)
    keep_answer(pending, group, *done.answer, *answers);
  else
    refuse_dead(pending, group, *done.hang, *answers);
  return true;
}

void GroupRunner::refuse_artifact(const PendingCandidate& pending, const PriceGroup& group, const Refusal& refusal,
                                  const std::string& stage) {
  // A reproduction bundle is compiled for this processor alone.
  if (!group.portable) keep_repro(group, pending.candidate, refusal, stage);
  store_.put_verdict(numbers_key(pending.key, group.place), to_line(to_json(refusal)));
}

bool GroupRunner::is_ours(const PendingCandidate& pending) {
  return store_.take_leases({&pending.key, 1}, allowance()(std::nullopt)).front() == Lease::kOurs;
}

void GroupRunner::keep_ahead(const PendingCandidate& pending, const PriceGroup& group, const CandidateAnswer& answer) {
  const bool is_verified = effort_ahead(group) == Effort::kPrepare;
  keep_artifact(pending, group, answer.artifact, is_verified);
  if (is_verified && !answer.artifact.empty()) verified_[artifact_key(pending.key, group.place)] = answer.artifact;
}

void GroupRunner::keep_artifact(const PendingCandidate& pending, const PriceGroup& group, const std::string& artifact,
                                bool is_verified) {
  if (artifact.empty()) return;
  compiled_[compiled_key(pending, group)] = artifact;
  // Who asks the store for an artifact relies on numbers that were judged on all inputs.
  if (is_verified) store_.put_artifact(artifact_key(pending.key, group.place), artifact);
}

void GroupRunner::leave_workers() {
  worker_.stop();
  ahead_.leave();
}

bool GroupRunner::blame(const Death& death, PriceGroup& group, Answers& answers) {
  if (!death.candidate || static_cast<std::size_t>(*death.candidate) >= group.pending.size()) return false;
  const auto guilty = group.pending.begin() + *death.candidate;
  refuse_dead(*guilty, group, death, answers);
  group.pending.erase(guilty);
  return true;
}

void GroupRunner::refuse_dead(const PendingCandidate& pending, const PriceGroup& group, const Death& death,
                              Answers& answers) {
  strike(pending.candidate.backend, group, death.refusal);
  keep_repro(group, pending.candidate, death.refusal, death.stage);
  book_.note(pending.key, Infeasible{death.refusal}, answers);
}

std::expected<Result<Json>, Death> GroupRunner::prepare(const PriceGroup& group, bool recorded_only,
                                                        const std::stop_token& stop) {
  PriceJob job = job_for(group, Effort::kPrepare);
  job.judging.recorded_only = recorded_only;
  return worker_.call(to_json(job), allowance(), stop);
}

Result<PriceAnswer> GroupRunner::accepted(const Json& json) {
  COLLAGE_TRY(PriceAnswer answer, price_answer_from(json));
  if (answer.harmed || worker_.is_bloated()) worker_.stop();
  return answer;
}

Allowance GroupRunner::allowance() const {
  const MeasureOptions& measure = options_.measure;
  return usual_allowance(measure.compile_limit, measure.compile_limit, measure.run_limit);
}

Allowance GroupRunner::allowance_with_leases() {
  return [this, usual = allowance()](const std::optional<JobProgress>& progress) {
    const auto allowed = usual(progress);
    store_.extend_leases(allowed);
    return allowed;
  };
}

void GroupRunner::strike(const std::string& backend, const PriceGroup& group, const Refusal& why) {
  if (const auto found = registry_.get(backend)) strikes_.add((*found)->info(), group.operators, why);
}

void GroupRunner::leave_out_blocked(PriceGroup& group, Answers& answers) {
  std::map<std::string, std::optional<Refusal>> blocks;
  for (const PendingCandidate& pending : group.pending)
    if (const auto found = registry_.get(pending.candidate.backend))
      blocks[pending.candidate.backend] = strikes_.block_of((*found)->info(), group.operators);
  std::erase_if(group.pending, [&](const PendingCandidate& pending) {
    const std::optional<Refusal>& block = blocks[pending.candidate.backend];
    if (!block) return false;
    book_.refuse_unstored(pending.key, *block, answers);
    return true;
  });
}

PriceJob GroupRunner::job_for(const PriceGroup& group, Effort effort) {
  PriceJob job{.target = {.graph_file = options_.graph.graph_file,
                          .record_file = options_.graph.record_file,
                          .nodes = group.nodes,
                          .repeated = group.repeated,
                          .conversion = group.conversion},
               .candidates = {},
               .options = options_.measure.compile(),
               .artifact_folder = store_.artifact_folder(),
               .effort = effort,
               .timing = {.quiet_ns = quiet_ns_, .displaced_bytes = options_.displaced_bytes},
               .judging = {.seed = options_.measure.seed}};
  job.options.portable = group.portable;
  for (const PendingCandidate& pending : group.pending) {
    job.candidates.push_back(pending.candidate);
    job.compiled.push_back(compiled_before(pending, group));
    job.judging.verified.push_back(is_verified(pending, group, job.compiled.back()));
  }
  return job;
}

void GroupRunner::keep(const PriceGroup& group, const PriceAnswer& answer, Answers& answers) {
  for (std::size_t i = 0; i < group.pending.size() && i < answer.candidates.size(); ++i) {
    const CandidateAnswer& candidate = answer.candidates[i];
    keep_artifact(group.pending[i], group, candidate.artifact, !is_sampled(candidate.cost));
    keep_answer(group.pending[i], group, candidate, answers);
  }
}

void GroupRunner::keep_answer(const PendingCandidate& pending, const PriceGroup& group, const CandidateAnswer& answer,
                              Answers& answers) {
  if (const auto* infeasible = std::get_if<Infeasible>(&answer.cost))
    keep_repro(group, pending.candidate, infeasible->refusal, answer.stage);
  book_.note(pending.key, answer.cost, answers, answer.samples);
}

void GroupRunner::refuse_all(const PriceGroup& group, const Refusal& refusal, const std::string& stage,
                             Answers& answers) {
  for (const PendingCandidate& pending : group.pending) {
    keep_repro(group, pending.candidate, refusal, stage);
    book_.note(pending.key, Infeasible{refusal}, answers);
  }
}

void GroupRunner::keep_repro(const PriceGroup& group, const CandidateSpec& candidate, const Refusal& refusal,
                             const std::string& stage) {
  const auto backend = registry_.get(candidate.backend);
  if (options_.repros == nullptr || !backend || !is_failure(refusal.reason)) return;
  const BackendInfo& info = (*backend)->info();
  options_.repros->keep({.graph = group.graph,
                         .record_file = options_.graph.record_file,
                         .nodes = group.nodes,
                         .repeated = group.repeated,
                         .bundle = {.backend = info.name,
                                    .kind = info.kind,
                                    .version = info.version,
                                    .build = info.build,
                                    .variant = candidate.variant,
                                    .labels = candidate.labels,
                                    .conversion = group.conversion,
                                    .options = options_.measure.compile(),
                                    .seed = options_.measure.seed,
                                    .displaced_bytes = options_.displaced_bytes,
                                    .compile_limit = options_.measure.compile_limit,
                                    .run_limit = options_.measure.run_limit,
                                    .refusal = refusal,
                                    .stage = stage,
                                    .machine = context_.machine}});
}

}  // namespace collage
