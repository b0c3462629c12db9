#include "tune/price/priced.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/roles.h"
#include "base/file.h"
#include "base/hash.h"
#include "region/narrow_variant.h"
#include "tune/node_rules.h"
#include "tune/price/cost_table.h"
#include "tune/price/estimates.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/neighbours.h"
#include "tune/price/priced_before.h"
#include "tune/price/priced_text.h"
#include "tune/schedules/schedule_stage.h"

namespace collage {
namespace {

constexpr int kNeighbourRounds = 2;
/// A byte outweighs any time.
constexpr double kNsPerFrugalByte = 1e6;
constexpr std::size_t kFrugalStates = 100'000;
constexpr std::size_t kMostNeighbours = 12;
/// A tune makes a hundred searches, each of which takes some 2 us for a state where the graph is wide. Covers hardly
/// differ from those of ten times as many states, and bounds by a few per cent.
constexpr double kStatesPerSecond = 1000;
constexpr double kFewestStates = 30'000;

/// Of one search. By the budget, not by the clock: the same costs give the same covers.
std::size_t most_states(double budget_s) {
  const double most = std::max(kFewestStates, kStatesPerSecond * budget_s);
  return std::min(SearchOptions{}.max_states, static_cast<std::size_t>(std::min(most, 1e15)));
}

/// Everyone at home who is not an engine may convert between the common formats.
std::vector<std::string> converters(const TuneTask& task, const MeasureEnv& env) {
  std::vector<std::string> names = {kHostBackend};
  for (const std::string& name : at_home(task.who.locations, task.who.backends))
    if (env.registry.get(name) && !env.is_engine(name)) names.push_back(name);
  return names;
}

PricingOptions pricing_options(const TuneTask& task, const MeasureEnv& env) {
  return {.measure = task.options,
          .files = {.graph_file = task.prepared.graph_file,
                    .record_file = task.prepared.record,
                    .model = std::filesystem::path(task.options.name_of_model()).filename().string()},
          .backends_apart = !task.who.conflicts.empty(),
          .converters = converters(task, env),
          .locations = task.who.locations,
          .free_borders = task.options.ablations.borders,
          .progress = env.progress,
          .repros = &env.repros};
}

/// No cover fits under the cap: how much the most frugal one takes, as the search counts it. Times play no part in
/// that, so that candidates nobody has measured yet do for it.
Error too_small_cap(Error error, const TuneTask& task, Priced& priced) {
  if (error.exit != ExitCode::kLimit || task.options.objective.memory_cap <= 0) return error;
  CoverRequest frugal = cover_request(task, priced, {});
  frugal.search.capacity.erase(kHome);
  frugal.search.ns_per_byte = kNsPerFrugalByte;
  frugal.search.max_states = kFrugalStates;
  for (Cost& cost : frugal.costs)
    if (std::holds_alternative<Unknown>(cost)) cost = Estimated{.ns = 1};
  const auto best = priced.pricing->best(std::move(frugal));
  if (!best) return error;
  error.where = "--memory-cap";
  error.saw = bytes_text(task.options.objective.memory_cap);
  error.allowed = fmt::format("at least {}, which the most frugal plan found needs", bytes_text(best->peak_bytes));
  return error;
}

/// The bodies of control-flow operators compete with engines that take the whole operator. Half of the time goes to
/// them at most: the operators around them wait for it.
Result<void> place_bodies(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  MeasureLimits limits = env.limits();
  const Clock::time_point now = Clock::now();
  limits.deadline = now + (limits.deadline - now) / 2;
  const Participants& who = task.who;
  priced.placer.emplace(BodiesOptions{.proposing = at_home(who.locations, who.proposing),
                                      .backends = at_home(who.locations, who.backends),
                                      .host_fills = task.options.only.has_value(),
                                      .measures_all = task.options.measures_all,
                                      .rules = who.rules,
                                      .user_rules = task.options.user_rules,
                                      .pricing = pricing_options(task, env),
                                      .limits = limits},
                        BodiesContext{env.registry, env.store, env.worker, env.folder});
  priced.costs.assign(priced.pool.candidates.candidates.size(), Unknown{});
  COLLAGE_TRY(priced.bodies, priced.placer->place(task.graph(), priced.pool.candidates, priced.costs));
  return {};
}

/// Costs of an earlier tune, where bodies have not given any.
Result<void> take_costs(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  COLLAGE_TRY(std::vector<Cost> known, read_priced(task.options.resume, task, env.registry, priced.pool.candidates));
  for (std::size_t c = 0; c < priced.costs.size(); ++c)
    if (std::holds_alternative<Unknown>(priced.costs[c])) priced.costs[c] = std::move(known[c]);
  return {};
}

/// All that pricing depends on but the clock.
std::string pricing_question(const TuneTask& task, const MeasureEnv& env, const Estimates& estimates,
                             const Priced& priced) {
  const Objective& objective = task.options.objective;
  std::string forecasts;
  for (const auto& ns : estimates) forecasts += ns ? fmt::format("{},", *ns) : "-,";
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", tune_question(task, env.registry), objective.memory_cap,
                     objective.ns_per_byte, task.options.only.has_value(), hash_hex(forecasts), hash_of(priced.costs),
                     fmt::join(priced.limits.full().members(), ","),
                     fmt::join(priced.limits.fixed_point().members(), ","),
                     to_text(task.graph(), priced.pool.candidates));
}

/// The costs that the same tune had when its pricing ended; nothing where the store knows others by now.
Result<std::optional<std::vector<Cost>>> costs_as_before(const TuneTask& task, const MeasureEnv& env,
                                                         const PricedBefore& before, Priced& priced,
                                                         CostBounds& bounds) {
  const CandidatePool& pool = priced.pool.candidates;
  LazyCosts costs(task.graph(), pool, bounds, priced.costs);
  for (const auto& [asked, effort] : {std::pair(&before.sampled, Effort::kSample), {&before.priced, Effort::kTime}}) {
    COLLAGE_TRY(const std::vector<Cost> answers,
                priced.pricing->price_some(pool, *asked, effort, without_time(env.limits())));
    for (std::size_t i = 0; i < asked->size(); ++i) costs.learn((*asked)[i], answers[i]);
  }
  std::vector<Cost> known = costs.known();
  for (const auto& [candidate, ns] : before.forecast) known[candidate] = Estimated{.ns = ns};
  if (hash_of(known) != before.costs_hash) return std::nullopt;
  return known;
}

/// Takes what the store has measured or sampled of the candidates without a cost, in whatever tune: of another budget
/// or class, or of another model with the same regions. Gives those candidates.
Result<std::vector<std::size_t>> take_stored(const MeasureEnv& env, const CandidatePool& pool, Pricing& pricing,
                                             std::vector<Cost>& costs, CostBounds& bounds) {
  std::vector<std::size_t> open;
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (std::holds_alternative<Unknown>(costs[c])) open.push_back(c);
  std::vector<std::size_t> taken;
  for (const Effort effort : {Effort::kTime, Effort::kSample}) {
    COLLAGE_TRY(std::vector<Cost> answers, pricing.price_some(pool, open, effort, without_time(env.limits())));
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool is_known = !std::holds_alternative<Unknown>(answers[i]);
      (is_known ? taken : rest).push_back(open[i]);
      bounds.learn(open[i], answers[i]);
      costs[open[i]] = std::move(answers[i]);
    }
    open = std::move(rest);
  }
  return taken;
}

/// Where nothing may have 16 bits, nothing is as fast as they are.
Accuracy accuracy_of_bounds(const TuneTask& task, const Priced& priced) {
  return priced.limits.is_full(task.graph().nodes.size()) ? Accuracy::kStandard : task.options.accuracy;
}

Result<std::vector<Cost>> price_lazily(const TuneTask& task, const MeasureEnv& env, Priced& priced,
                                       const Estimates& estimates) {
  const auto fresh_bounds = [&]() -> CostBounds& {
    CostBounds& bounds = priced.bounds.emplace(task.graph(), priced.pool.candidates, accuracy_of_bounds(task, priced),
                                               peak_rates(env.store), task.options.threads, estimates,
                                               priced.memory_of_models->known(), engines_of(env.registry));
    // What is known already: what engines took, or an earlier tune. Costs of bodies say nothing of other candidates.
    for (std::size_t c = 0; c < priced.costs.size(); ++c)
      if (priced.pool.candidates.candidates[c].backend != kControlBackend) bounds.learn(c, priced.costs[c]);
    return bounds;
  };
  const double budget_s = env.budget.seconds();
  PricingRecord& record =
      priced.record.emplace(PricingRecord{.question = pricing_question(task, env, estimates, priced), .pricing = {}});
  if (auto before = recall_pricing(env.store, record.question, budget_s, priced.costs.size())) {
    COLLAGE_TRY(auto costs, costs_as_before(task, env, *before, priced, fresh_bounds()));
    if (costs) {
      record.pricing = *std::move(before);
      record.is_recalled = true;
      return *std::move(costs);
    }
  }
  CostBounds& bounds = fresh_bounds();
  CoverRequest request = cover_request(task, priced, {});
  COLLAGE_TRY(std::vector<std::size_t> asked,
              take_stored(env, priced.pool.candidates, *priced.pricing, request.costs, bounds));
  auto prices = priced.pricing->price_lazily(std::move(request), bounds, env.limits());
  priced.memory_of_models->keep(priced.bounds->learnt());
  if (!prices) return std::unexpected(std::move(prices).error());
  priced.second_half_gain = prices->second_half_gain;
  asked.insert(asked.end(), prices->asked.begin(), prices->asked.end());
  record.pricing = priced_with(budget_s, asked, prices->costs);
  record.pricing.is_cut = env.out_of_time();
  // Whatever ends the tune from now on.
  if (!env.stop.stop_requested()) keep_pricing(record, env.store);
  return std::move(prices->costs);
}

/// Those of bodies have costs already.
Result<std::vector<Cost>> measure(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  const Graph& graph = task.graph();
  const CandidatePool& pool = priced.pool.candidates;
  COLLAGE_TRY(const Estimates estimates, estimates_of(task.options.estimates, graph, pool));
  priced.costs = with_estimates(task.options.estimates, estimates, std::move(priced.costs));
  const PricingMemory& memory = priced.memory_of_models.emplace(env.store, graph, task.options);
  if (!task.options.measures_all) return price_lazily(task, env, priced, estimates);
  CostBounds& bounds = priced.bounds.emplace(graph, pool, accuracy_of_bounds(task, priced), peak_rates(env.store),
                                             task.options.threads, estimates, memory.known());
  COLLAGE_TRY(std::vector<Cost> costs, priced.pricing->price(pool, env.limits(), priced.costs));
  for (std::size_t c = 0; c < costs.size(); ++c) bounds.learn(c, costs[c]);
  priced.memory_of_models->keep(bounds.learnt());
  if (!env.budget.is_past(Budget::kMeasuringShare)) return costs;
  bounds.fit();
  return LazyCosts(graph, pool, bounds, std::move(costs)).forecast(Forecast::kExpected, 1);
}

/// Steps of one backend that touch in the best cover become candidates as one step.
Result<void> join_neighbours(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  const Graph& graph = task.graph();
  const Uses uses = uses_of(graph);
  const MayRun may_run = [&](const NodeSet& nodes, const std::string& backend) {
    return is_allowed(graph, nodes, backend, task.who.rules) &&
           allows(graph, uses, task.options.user_rules, nodes, backend);
  };
  CandidatePool& pool = priced.pool.candidates;
  const std::optional<int> before = priced.record ? priced.record->pricing.rounds : std::nullopt;
  for (int round = 0; round < before.value_or(kNeighbourRounds); ++round) {
    if (!before && env.out_of_time()) return {};
    if (priced.record) priced.record->pricing.rounds = round + 1;
    const auto best = priced.pricing->best_measured(cover_request(task, priced, {}), env.limits());
    if (!best) return {};  // the search for all covers says why
    CandidatePool fresh =
        neighbour_candidates(graph, uses, best->cover, priced.pool.proposers, may_run, pool, kMostNeighbours);
    fresh = ablated(std::move(fresh), graph, task.who.backends, task.options.ablations);
    if (fresh.candidates.empty()) return {};
    COLLAGE_TRY(const std::vector<Cost> costs, price_fresh(task, fresh, env.limits(), priced));
    priced.costs.insert(priced.costs.end(), costs.begin(), costs.end());
    append(std::move(fresh), pool);
    note_unmeasured(env, priced);
  }
  return {};
}

/// For the same tune, asked for again.
void note_end(const MeasureEnv& env, Priced& priced) {
  if (!priced.record || env.stop.stop_requested()) return;
  PricedBefore& pricing = priced.record->pricing;
  pricing.rounds = pricing.rounds.value_or(0);
  pricing.is_late = env.out_of_time();
  pricing.is_very_late = env.budget.is_late_for_covers();
  keep_pricing(*priced.record, env.store);
}

Result<void> write_cost_table(const TuneTask& task, const Priced& priced) {
  if (task.options.cost_table.empty()) return {};
  const std::string table = cost_table(task.graph(), priced.pool.candidates, priced.costs);
  return write_file(task.options.cost_table, table);
}

/// What is true of candidates that were left over just now.
Unmeasured why_not_measured(const MeasureEnv& env, bool lazily) {
  if (env.user_stop.stop_requested()) return Unmeasured::kStopped;
  return lazily && !env.out_of_time() ? Unmeasured::kNotNeeded : Unmeasured::kOutOfTime;
}

/// Where no engine fills the gaps, every node needs a candidate.
Result<void> check_all_taken(const Graph& graph, const CandidatePool& pool) {
  std::string nodes;
  for (const std::size_t n : nodes_without_candidate(graph, pool))
    nodes += fmt::format("{}{} ({})", nodes.empty() ? "" : ", ", graph.nodes[n].name, graph.nodes[n].op_type);
  if (nodes.empty()) return {};
  return fail(ExitCode::kUnsupported, "tune/not-linkable", "--deploy library", "nobody for " + nodes,
              "operators of backends that are part of a library; a tune without --deploy runs them in others");
}

/// All that comes before measuring.
Result<void> prepare_pricing(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  const Graph& graph = task.graph();
  COLLAGE_TRY_VOID(place_bodies(task, env, priced));
  const Pool& pool = priced.pool;
  if (const std::string nobody = nobody_left(graph, task.who.rules, pool.without_rules, pool.candidates);
      !nobody.empty())
    return fail(ExitCode::kUnsupported, "tune/nobody-left", "--pin, --ban", nobody, "rules that leave someone who can");
  if (task.options.for_library) COLLAGE_TRY_VOID(check_all_taken(graph, pool.candidates));
  if (!task.options.resume.empty()) COLLAGE_TRY_VOID(take_costs(task, env, priced));
  priced.known_schedules = add_known_schedules(schedule_context(task, env, priced));
  return {};
}

Result<void> price_all(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  auto costs = measure(task, env, priced);
  if (!costs) return std::unexpected(too_small_cap(std::move(costs).error(), task, priced));
  priced.costs = *std::move(costs);
  const bool is_recalled = priced.record && priced.record->is_recalled;
  const bool is_known_to_end = is_recalled && priced.record->pricing.rounds;
  if (is_recalled && priced.record->pricing.is_cut) env.budget.end_measuring();
  priced.why_unmeasured.assign(priced.costs.size(), why_not_measured(env, !task.options.measures_all));
  if (is_recalled && priced.record->pricing.is_late) env.budget.end_measuring();
  if (task.options.ablations.improves()) COLLAGE_TRY_VOID(join_neighbours(task, env, priced));
  if (!is_known_to_end) note_end(env, priced);
  return write_cost_table(task, priced);
}

}  // namespace

std::size_t Priced::candidate_count() const {
  return pool.candidates.candidates.size() + (placer ? placer->candidate_count() : 0);
}

PriceCounts Priced::counts() const {
  if (!pricing) return {};
  PriceCounts counts = pricing->counts();
  if (placer) {
    counts.measured += placer->counts().measured;
    counts.reused += placer->counts().reused;
    counts.refused += placer->counts().refused;
  }
  counts.refused += pool.candidates.refusals.size();
  return counts;
}

namespace {

StepMemory step_memory(const MeasureEnv& env) { return StepMemory(engines_of(env.registry)); }

}  // namespace

Priced open_pricing(const TuneTask& task, Pool pool, const MeasureEnv& env) {
  Priced priced{.pool = std::move(pool), .memory = step_memory(env), .memory_cap = task.options.objective.memory_cap};
  if (task.graph().nodes.empty()) {
    priced.no_covers = Error{.code = "tune/no-nodes", .saw = "the graph has no nodes"};
    return priced;
  }
  priced.pricing = std::make_unique<Pricing>(pricing_options(task, env), task.graph(), env.registry, env.store);
  if (auto done = prepare_pricing(task, env, priced); !done) priced.no_covers = std::move(done).error();
  return priced;
}

Priced without_covers(Error why, const MeasureEnv& env) {
  return {.memory = step_memory(env), .no_covers = std::move(why)};
}

void restart_pricing(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  priced.pricing = std::make_unique<Pricing>(pricing_options(task, env), task.graph(), env.registry, env.store);
  priced.memory = step_memory(env);
  priced.times_outside = 0;
}

void price(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  if (!priced.has_covers()) return;
  if (auto done = price_all(task, env, priced); !done) priced.no_covers = std::move(done).error();
}

Result<std::vector<Cost>> price_fresh(const TuneTask& task, const CandidatePool& fresh, const MeasureLimits& limits,
                                      Priced& priced) {
  const EstimateOptions& options = task.options.estimates;
  std::vector<Cost> known;
  if (options.stand_for_costs()) {
    COLLAGE_TRY(const Estimates estimates, estimates_of(options, task.graph(), fresh));
    known = with_estimates(options, estimates, {});
  }
  return priced.pricing->price(fresh, limits, std::move(known));
}

void note_unmeasured(const MeasureEnv& env, Priced& priced) {
  priced.why_unmeasured.resize(priced.costs.size(), why_not_measured(env, false));
}

namespace {

bool is_forbidden(const CandidatePool& pool, const Candidate& candidate, const PrecisionLimits& limits) {
  return limits.forbids(candidate.variant, pool.regions[candidate.region].nodes);
}

/// Conversions to the formats of a view round as well: views with 16 bits go, too.
void forbid_narrow(const CandidatePool& pool, const PrecisionLimits& limits, std::vector<Cost>& costs) {
  if (limits.is_empty()) return;
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (is_forbidden(pool, pool.candidates[c], limits))
      costs[c] = Infeasible{{.reason = RefusalReason::kWrongResult, .detail = "the outputs would leave their bound"}};
}

}  // namespace

void drop_narrow(Priced& priced) {
  if (priced.limits.is_empty()) return;
  CandidatePool& pool = priced.pool.candidates;
  std::size_t kept = 0;
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    if (is_forbidden(pool, pool.candidates[c], priced.limits)) continue;
    if (kept != c) {
      pool.candidates[kept] = std::move(pool.candidates[c]);
      priced.costs[kept] = std::move(priced.costs[c]);
    }
    ++kept;
  }
  pool.candidates.resize(kept);
  priced.costs.resize(kept);
}

CoverRequest cover_request(const TuneTask& task, const Priced& priced, const Corrections& corrections) {
  const Participants& who = task.who;
  const CandidatePool& pool = priced.pool.candidates;
  CoverRequest request;
  request.graph = &task.graph();
  request.pool = &pool;
  request.costs = corrected_costs(task.graph(), pool, priced.costs, corrections);
  forbid_narrow(pool, priced.limits, request.costs);
  request.backends = who.backends;
  if (!priced.bodies.empty()) request.backends.emplace_back(kControlBackend);
  request.host_fills = task.options.only.has_value();
  request.conflicts = who.conflicts;
  request.locations = who.locations;
  request.search.capacity = who.locations.capacity;
  if (task.options.ablations.borders) request.search.launch_ns = 0;
  request.search.max_states = most_states(task.options.budget_s);
  if (task.options.objective.is_time_alone()) return request;
  request.search.ns_per_byte = task.options.objective.ns_per_byte;
  if (priced.memory_cap > 0) request.search.capacity[kHome] = priced.memory_cap;
  for (const Candidate& candidate : pool.candidates)
    request.workspace_bytes.push_back(
        priced.memory.of(task.graph(), pool.regions[candidate.region], candidate.backend, candidate.variant));
  return request;
}

Result<std::vector<Artifact>> make_artifacts(Priced& priced, Cover& cover, const ArtifactLimits& limits) {
  attach_bodies(priced.bodies, cover);
  COLLAGE_TRY(std::vector<Artifact> own, priced.pricing->artifacts(cover, limits));
  priced.memory.learn(cover, own);
  return with_bodies(priced.bodies, cover, std::move(own));
}

ScheduleContext schedule_context(const TuneTask& task, const MeasureEnv& env, Priced& priced) {
  return {.graph = task.graph(),
          .registry = env.registry,
          .store = env.store,
          .pricing = *priced.pricing,
          .pool = priced.pool.candidates,
          .costs = priced.costs,
          .compile = task.options.compile()};
}

bool lower_cap(std::int64_t least_over_cap, std::int64_t asked_cap, Priced& priced) {
  if (priced.memory_cap <= 0) return false;
  priced.memory_cap -= std::clamp(least_over_cap - asked_cap, std::max<std::int64_t>(1, asked_cap / 64),
                                  std::max<std::int64_t>(1, asked_cap / 8));
  return priced.memory_cap > 0;
}

}  // namespace collage
