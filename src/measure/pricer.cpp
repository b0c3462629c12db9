#include "measure/pricer.h"

#include <algorithm>
#include <thread>

#include "measure/pricer_groups.h"
#include "timing/machine.h"

namespace collage {
namespace {

/// Between two looks at what other tuners measure: the second doubles the first until the longest.
constexpr std::chrono::milliseconds kFirstPause(1);
constexpr std::chrono::milliseconds kLongestPause(50);

bool is_too_late(const MeasureLimits& limits, std::size_t nodes) {
  return Clock::now() > (nodes > 1 ? limits.deadline : limits.latest);
}

}  // namespace

Pricer::Pricer(PricerOptions options, Registry& registry, Store& store)
    : options_(std::move(options)),
      registry_(registry),
      store_(store),
      worker_(options_.measure.worker_command),
      context_{.threads = options_.measure.threads,
               .accuracy = options_.measure.accuracy,
               .machine = machine_print(),
               .displaced_bytes = options_.displaced_bytes},
      strikes_(store),
      facts_(store, options_.graph.model) {}

std::expected<std::string, Refusal> Pricer::key_of(const std::string& structure, const CandidateSpec& candidate) {
  const auto backend = registry_.get(candidate.backend);
  if (!backend) return std::unexpected(Refusal{.reason = RefusalReason::kMissing, .detail = backend.error().saw});
  return cost_key(structure, candidate.variant, (*backend)->info(), context_);
}

std::expected<std::string, Refusal> Pricer::key_of(const Conversion& conversion, const std::string& backend) {
  const auto found = registry_.get(backend);
  if (!found) return std::unexpected(Refusal{.reason = RefusalReason::kMissing, .detail = found.error().saw});
  return conversion_key(conversion, (*found)->info(), context_);
}

void Pricer::look_up(const std::string& key, const CandidateSpec& candidate, Group& group, Answers& answers) {
  if (answers.contains(key) || reuse(key, answers)) return;
  answers[key] = {.cost = Unknown{}};
  group.pending.push_back({.key = key, .candidate = candidate});
}

bool Pricer::reuse(const std::string& key, Answers& answers) {
  auto known = store_.cost(key);
  if (!known) return false;
  ++counts_.reused;
  if (std::holds_alternative<Infeasible>(*known)) ++counts_.refused;
  answers[key] = {.cost = *std::move(known), .reused = true};
  return true;
}

Result<std::vector<std::vector<PricedCandidate>>> Pricer::price(const Graph& graph,
                                                                std::span<const PriceRequest> requests,
                                                                const MeasureLimits& limits) {
  std::map<std::string, Group> groups;
  Answers answers;
  ConstantHashes hashes;
  std::vector<std::vector<std::expected<std::string, Refusal>>> keys;
  for (const PriceRequest& request : requests) {
    const std::string structure = structure_key(graph, request.region);
    facts_.note(structure, graph, request.region);
    Group& group = groups[structure];
    // The first place of a structure stands for all: the others differ in weights only.
    const bool is_first = group.nodes.empty();
    if (is_first) group.nodes = indices_of(request.region.nodes);
    if (is_first) group.repeated = indices_of(request.region.repeated);
    group.graph = &graph;
    if (is_first) group.operators = operators_of(graph, request.region);
    keys.emplace_back();
    for (const CandidateSpec& candidate : request.candidates) {
      keys.back().push_back(key_of(structure, candidate));
      if (keys.back().back()) look_up(*keys.back().back(), candidate, group, answers);
    }
    if (is_first) group.place = place_hash(graph, request.region, hashes);
  }
  facts_.keep();
  COLLAGE_TRY_VOID(run_groups(groups, limits, answers));
  std::vector<std::vector<PricedCandidate>> priced;
  for (const auto& list : keys) {
    priced.emplace_back();
    for (const auto& key : list)
      priced.back().push_back(key ? answers.at(*key) : PricedCandidate{.cost = Infeasible{key.error()}});
  }
  return priced;
}

Result<std::vector<std::vector<PricedCandidate>>> Pricer::price(std::span<const ConversionRequest> requests,
                                                                const MeasureLimits& limits) {
  std::map<std::string, Group> groups;
  Answers answers;
  std::vector<std::vector<std::expected<std::string, Refusal>>> keys;
  for (const ConversionRequest& request : requests) {
    const Conversion& conversion = request.conversion;
    Group& group = groups[text_of(conversion)];
    group.conversion = conversion;
    group.operators = kConversion;
    group.place = "none";
    keys.emplace_back();
    for (const std::string& backend : request.backends) {
      keys.back().push_back(key_of(conversion, backend));
      if (keys.back().back()) look_up(*keys.back().back(), {.backend = backend, .variant = {}}, group, answers);
    }
  }
  COLLAGE_TRY_VOID(run_groups(groups, limits, answers));
  std::vector<std::vector<PricedCandidate>> priced;
  for (const auto& list : keys) {
    priced.emplace_back();
    for (const auto& key : list)
      priced.back().push_back(key ? answers.at(*key) : PricedCandidate{.cost = Infeasible{key.error()}});
  }
  return priced;
}

Result<void> Pricer::run_groups(std::map<std::string, Group>& groups, const MeasureLimits& limits, Answers& answers) {
  std::size_t total = 0;
  for (const auto& [name, group] : groups) total += group.pending.size();
  std::size_t done = 0;
  std::vector<Group> theirs;
  for (auto& [name, group] : groups) {
    if (group.pending.empty() || limits.stop.stop_requested() || is_too_late(limits, group.nodes.size())) continue;
    const std::size_t size = group.pending.size();
    theirs.push_back(take_leases(group, answers));
    COLLAGE_TRY_VOID(run_leased(std::move(group), limits.stop, answers));
    done += size - theirs.back().pending.size();
    report(done, total);
  }
  return await_others(std::move(theirs), limits, answers);
}

Pricer::Group Pricer::take_leases(Group& group, Answers& answers) {
  std::vector<std::string> keys;
  for (const Pending& pending : group.pending) keys.push_back(pending.key);
  const std::vector<Lease> leases = store_.take_leases(keys, allowance_of(options_)(std::nullopt));
  Group theirs = group;
  theirs.pending.clear();
  std::vector<Pending> ours;
  for (std::size_t i = 0; i < leases.size(); ++i) {
    Pending& pending = group.pending[i];
    if (leases[i] == Lease::kTheirs)
      theirs.pending.push_back(std::move(pending));
    else if (leases[i] == Lease::kOurs || !reuse(pending.key, answers))
      ours.push_back(std::move(pending));
  }
  group.pending = std::move(ours);
  return theirs;
}

Result<void> Pricer::await_others(std::vector<Group> theirs, const MeasureLimits& limits, Answers& answers) {
  auto pause = kFirstPause;
  for (;;) {
    std::erase_if(theirs,
                  [&](const Group& group) { return group.pending.empty() || is_too_late(limits, group.nodes.size()); });
    if (theirs.empty() || limits.stop.stop_requested()) return {};
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    for (Group& group : theirs) {
      const std::size_t size = group.pending.size();
      Group rest = take_leases(group, answers);
      if (rest.pending.size() < size) pause = kFirstPause;
      COLLAGE_TRY_VOID(run_leased(std::move(group), limits.stop, answers));
      group = std::move(rest);
    }
  }
}

Result<void> Pricer::run_leased(Group group, const std::stop_token& stop, Answers& answers) {
  auto outcome = run_group(std::move(group), stop, answers);
  // What has no cost after all, because of a stop or an error, is for others to measure.
  store_.release_leases();
  return outcome;
}

Result<void> Pricer::run_group(Group group, const std::stop_token& stop, Answers& answers) {
  int unexplained = 0;
  for (;;) {
    leave_out_blocked(group, answers);
    if (group.pending.empty()) return {};
    PriceJob job = job_for(group, Effort::kTime);
    job.judging.recorded_only = unexplained > 0;
    auto outcome = worker_.call(to_json(job), allowance_with_leases(), stop);
    if (!outcome) {
      const Death& death = outcome.error();
      if (death.stopped) return {};
      if (death.candidate && static_cast<std::size_t>(*death.candidate) < group.pending.size()) {
        const auto guilty = group.pending.begin() + *death.candidate;
        strike(guilty->candidate.backend, group, death.refusal);
        keep_repro(group, guilty->candidate, death.refusal, death.stage);
        note(*guilty, Infeasible{death.refusal}, answers);
        group.pending.erase(guilty);
      } else if (++unexplained == 2) {
        refuse_all(group, death.refusal, death.stage, answers);
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
    accept(group, answer, answers);
    quiet_ns_ = answer.quiet_ns;
    if (answer.harmed || worker_.is_bloated()) worker_.stop();
    return {};
  }
}

Allowance Pricer::allowance_with_leases() {
  return [this, usual = allowance_of(options_)](const std::optional<JobProgress>& progress) {
    const auto allowed = usual(progress);
    store_.extend_leases(allowed);
    return allowed;
  };
}

void Pricer::strike(const std::string& backend, const Group& group, const Refusal& why) {
  if (const auto found = registry_.get(backend)) strikes_.add((*found)->info(), group.operators, why);
}

void Pricer::leave_out_blocked(Group& group, Answers& answers) {
  std::map<std::string, std::optional<Refusal>> blocks;
  for (const Pending& pending : group.pending)
    if (const auto found = registry_.get(pending.candidate.backend))
      blocks[pending.candidate.backend] = strikes_.block_of((*found)->info(), group.operators);
  std::erase_if(group.pending, [&](const Pending& pending) {
    const std::optional<Refusal>& block = blocks[pending.candidate.backend];
    if (!block) return false;
    // Not stored: nothing is known of this candidate itself.
    answers[pending.key] = {.cost = Infeasible{*block}};
    ++counts_.refused;
    return true;
  });
}

PriceJob Pricer::job_for(const Group& group, Effort effort) const {
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
  for (const Pending& pending : group.pending) job.candidates.push_back(pending.candidate);
  return job;
}

void Pricer::accept(const Group& group, const PriceAnswer& answer, Answers& answers) {
  for (std::size_t i = 0; i < group.pending.size() && i < answer.candidates.size(); ++i) {
    const CandidateAnswer& candidate = answer.candidates[i];
    if (!candidate.artifact.empty())
      store_.put_artifact(artifact_key(group.pending[i].key, group.place), candidate.artifact);
    if (const auto* infeasible = std::get_if<Infeasible>(&candidate.cost))
      keep_repro(group, group.pending[i].candidate, infeasible->refusal, candidate.stage);
    note(group.pending[i], candidate.cost, answers, candidate.samples);
  }
}

void Pricer::note(const Pending& pending, Cost cost, Answers& answers, const Samples& samples) {
  store_.put_cost(pending.key, cost, samples);
  const bool infeasible = std::holds_alternative<Infeasible>(cost);
  ++(infeasible ? counts_.refused : counts_.measured);
  answers[pending.key] = {.cost = std::move(cost), .reused = false};
}

void Pricer::refuse_all(const Group& group, const Refusal& refusal, const std::string& stage, Answers& answers) {
  for (const Pending& pending : group.pending) {
    keep_repro(group, pending.candidate, refusal, stage);
    note(pending, Infeasible{refusal}, answers);
  }
}

void Pricer::keep_repro(const Group& group, const CandidateSpec& candidate, const Refusal& refusal,
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

void Pricer::report(std::size_t done, std::size_t total) const {
  if (options_.progress)
    options_.progress(
        {.phase = "price", .done = done, .total = total, .refused = counts_.refused, .best_us = 0, .note = {}});
}

}  // namespace collage
