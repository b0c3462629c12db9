#include "measure/group_runner.h"

#include <algorithm>

namespace collage {

GroupRunner::GroupRunner(const PricerOptions& options, const MeasureContext& context, Registry& registry, Store& store,
                         AnswerBook& book)
    : options_(options),
      context_(context),
      registry_(registry),
      store_(store),
      book_(book),
      worker_(options.measure.worker_command),
      compilers_(options.measure.worker_command),
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

void GroupRunner::compile_ahead(const std::map<std::string, PriceGroup>& groups, const std::stop_token& stop) {
  std::vector<PriceJob> jobs;
  std::vector<std::string> keys;
  for (const auto& [name, group] : groups)
    for (const PendingCandidate& pending : group.pending) {
      if (!is_compiler(pending.candidate.backend) || compiled_.contains(compiled_key(pending, group))) continue;
      PriceGroup alone = group;
      alone.pending = {pending};
      jobs.push_back(job_for(alone, Effort::kCompile));
      keys.push_back(compiled_key(pending, group));
    }
  if (jobs.size() < 2) return;
  const std::vector<std::string> hashes = compilers_.compile(jobs, allowance(), stop);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!hashes[i].empty()) compiled_[keys[i]] = hashes[i];
}

bool GroupRunner::blame(const Death& death, PriceGroup& group, Answers& answers) {
  if (!death.candidate || static_cast<std::size_t>(*death.candidate) >= group.pending.size()) return false;
  const auto guilty = group.pending.begin() + *death.candidate;
  strike(guilty->candidate.backend, group, death.refusal);
  keep_repro(group, guilty->candidate, death.refusal, death.stage);
  book_.note(guilty->key, Infeasible{death.refusal}, answers);
  group.pending.erase(guilty);
  return true;
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
    const auto compiled = compiled_.find(compiled_key(pending, group));
    job.compiled.push_back(compiled == compiled_.end() ? "" : compiled->second);
  }
  return job;
}

void GroupRunner::keep(const PriceGroup& group, const PriceAnswer& answer, Answers& answers) {
  for (std::size_t i = 0; i < group.pending.size() && i < answer.candidates.size(); ++i) {
    const CandidateAnswer& candidate = answer.candidates[i];
    if (!candidate.artifact.empty()) compiled_[compiled_key(group.pending[i], group)] = candidate.artifact;
    // Who asks the store for an artifact relies on numbers that were judged on all inputs.
    if (!candidate.artifact.empty() && !is_sampled(candidate.cost))
      store_.put_artifact(artifact_key(group.pending[i].key, group.place), candidate.artifact);
    if (const auto* infeasible = std::get_if<Infeasible>(&candidate.cost))
      keep_repro(group, group.pending[i].candidate, infeasible->refusal, candidate.stage);
    book_.note(group.pending[i].key, candidate.cost, answers, candidate.samples);
  }
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
