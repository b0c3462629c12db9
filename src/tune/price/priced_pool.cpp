#include "tune/price/priced_pool.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/file.h"
#include "tune/confirm/level2.h"
#include "tune/node_rules.h"
#include "tune/price/cost_table.h"
#include "tune/price/lazy_costs.h"
#include "tune/price/neighbours.h"
#include "tune/proposers.h"

namespace collage {
namespace {

constexpr int kNeighbourRounds = 2;
/// A byte outweighs any time.
constexpr double kNsPerFrugalByte = 1e6;
constexpr std::size_t kFrugalStates = 100'000;
constexpr std::size_t kMostNeighbours = 12;
/// Searches for all sets of backends take some 5 % of the budget then, where they do not end before.
constexpr double kStatesPerSecond = 4000;
constexpr double kFewestStates = 60'000;

/// Of one search. By the budget, not by the clock: the same costs give the same covers.
std::size_t most_states(double budget_s) {
  const double most = std::max(kFewestStates, kStatesPerSecond * budget_s);
  return std::min(SearchOptions{}.max_states, static_cast<std::size_t>(std::min(most, 1e15)));
}

}  // namespace

Result<void> PricedPool::fill() {
  const Graph& graph = scene_.prepared.graph;
  const Uses uses = uses_of(graph);
  scene_.say("propose");
  COLLAGE_TRY(std::vector<Proposer> proposers,
              make_proposers(scene_.registry, scene_.who.proposing(), graph, scene_.compile()));
  for (const Proposer& one : proposers)
    if (one.rules.own) proposals_[one.backend] = to_text(*one.rules.own);
  add_user_rules(graph, scene_.options.user_rules, proposers);
  COLLAGE_TRY(const CandidatePool all, proposed(proposers));
  pricing_.emplace(pricing_options(), graph, scene_.registry, scene_.store);
  COLLAGE_TRY_VOID(place_bodies());
  if (const std::string nobody = nobody_left(graph, scene_.who.rules(), all, pool_); !nobody.empty())
    return fail(ExitCode::kUnsupported, "tune/nobody-left", "--pin, --ban", nobody, "rules that leave someone who can");
  known_schedules_ = add_known_schedules(schedules());
  auto costs = price();
  if (!costs) return std::unexpected(too_small_cap(std::move(costs).error()));
  costs_ = *std::move(costs);
  why_unmeasured_.assign(costs_.size(), why_not_measured(!scene_.options.measures_all));
  COLLAGE_TRY_VOID(join_neighbours(uses, proposers));
  return write_cost_table();
}

/// What the backends offer, under the user's rules. Where there are pins and bans the result is the same without them.
Result<CandidatePool> PricedPool::proposed(std::span<const Proposer> proposers) {
  const Graph& graph = scene_.prepared.graph;
  pool_ = propose(graph, uses_of(graph), proposers);
  COLLAGE_TRY_VOID(keep_forced_regions(graph, scene_.options.user_rules, pool_));
  rule_effects_ = effects_of(graph, scene_.who.rules(), pool_);
  std::ranges::move(effects_of(graph, scene_.options.user_rules, pool_), std::back_inserter(rule_effects_));
  CandidatePool all;
  if (!scene_.who.rules().empty()) all = pool_;
  apply_rules(graph, scene_.who.rules(), pool_);
  return all;
}

/// No cover fits under the cap: how much the most frugal one takes, as the search counts it. Times play no part in
/// that, so that candidates nobody has measured yet do for it.
Error PricedPool::too_small_cap(Error error) {
  if (error.exit != ExitCode::kLimit || scene_.options.objective.memory_cap <= 0) return error;
  CoverRequest frugal = request({});
  frugal.search.capacity.erase(kHome);
  frugal.search.ns_per_byte = kNsPerFrugalByte;
  frugal.search.max_states = kFrugalStates;
  for (Cost& cost : frugal.costs)
    if (std::holds_alternative<Unknown>(cost)) cost = Estimated{.ns = 1};
  const auto best = pricing_->best(std::move(frugal));
  if (!best) return error;
  error.where = "--memory-cap";
  error.saw = bytes_text(scene_.options.objective.memory_cap);
  error.allowed = fmt::format("at least {}, which the most frugal plan found needs", bytes_text(best->peak_bytes));
  return error;
}

/// The bodies of control-flow operators compete with engines that take the whole operator.
Result<void> PricedPool::place_bodies() {
  placer_.emplace(BodiesOptions{.proposing = at_home(scene_.who.locations(), scene_.who.proposing()),
                                .backends = at_home(scene_.who.locations(), scene_.who.backends()),
                                .host_fills = scene_.options.only.has_value(),
                                .measures_all = scene_.options.measures_all,
                                .rules = scene_.who.rules(),
                                .user_rules = scene_.options.user_rules,
                                .pricing = bodies_pricing()},
                  BodiesContext{scene_.registry, scene_.store, scene_.worker, scene_.folder});
  costs_.assign(pool_.candidates.size(), Unknown{});
  COLLAGE_TRY(bodies_, placer_->place(scene_.prepared.graph, pool_, costs_));
  return {};
}

/// Those of bodies have costs already.
Result<std::vector<Cost>> PricedPool::price() {
  const Graph& graph = scene_.prepared.graph;
  bounds_.emplace(graph, pool_, scene_.options.accuracy, peak_rates(scene_.store), scene_.options.threads);
  if (!scene_.options.measures_all) return pricing_->price_lazily(request({}), *bounds_);
  COLLAGE_TRY(std::vector<Cost> costs, pricing_->price(pool_, costs_));
  for (std::size_t c = 0; c < costs.size(); ++c) bounds_->learn(c, costs[c]);
  if (!scene_.budget.is_past(Budget::kMeasuringShare)) return costs;
  bounds_->fit();
  return LazyCosts(graph, pool_, *bounds_, std::move(costs)).forecast(Forecast::kExpected, 1);
}

/// Steps of one backend that touch in the best cover become candidates as one step.
Result<void> PricedPool::join_neighbours(const Uses& uses, std::span<const Proposer> proposers) {
  const Graph& graph = scene_.prepared.graph;
  const MayRun may_run = [&](const NodeSet& nodes, const std::string& backend) {
    return is_allowed(graph, nodes, backend, scene_.who.rules()) &&
           allows(graph, uses, scene_.options.user_rules, nodes, backend);
  };
  for (int round = 0; round < kNeighbourRounds && !scene_.out_of_time(); ++round) {
    const auto best = pricing_->best(request({}));
    if (!best) return {};  // the search for all covers says why
    CandidatePool fresh = neighbour_candidates(graph, uses, best->cover, proposers, may_run, pool_, kMostNeighbours);
    if (fresh.candidates.empty()) return {};
    COLLAGE_TRY(const std::vector<Cost> priced, pricing_->price(fresh));
    costs_.insert(costs_.end(), priced.begin(), priced.end());
    append(std::move(fresh), pool_);
    note_unmeasured();
  }
  return {};
}

Result<void> PricedPool::write_cost_table() const {
  if (scene_.options.cost_table.empty()) return {};
  const std::string table = cost_table(scene_.prepared.graph, pool_, costs_);
  const std::string_view piece = table;
  return write_file(scene_.options.cost_table, {&piece, 1});
}

/// What is true of candidates that were left over just now.
Unmeasured PricedPool::why_not_measured(bool lazily) const {
  if (scene_.user_stop.stop_requested()) return Unmeasured::kStopped;
  return lazily && !scene_.out_of_time() ? Unmeasured::kNotNeeded : Unmeasured::kOutOfTime;
}

std::vector<Unmeasured> PricedPool::why_unmeasured() const {
  std::vector<Unmeasured> why = why_unmeasured_;
  why.resize(costs_.size(), why_not_measured(false));
  return why;
}

void PricedPool::note_unmeasured() { why_unmeasured_.resize(costs_.size(), why_not_measured(false)); }

std::size_t PricedPool::candidate_count() const {
  return pool_.candidates.size() + (placer_ ? placer_->candidate_count() : 0);
}

// ---- pricing -------------------------------------------------------------------------------------------------
PricingOptions PricedPool::pricing_options() const {
  return {.worker_command = scene_.options.worker_command,
          .graph_file = scene_.prepared.graph_file,
          .record = scene_.prepared.record,
          .model = std::filesystem::path(scene_.options.model).filename().string(),
          .backends_apart = !scene_.who.conflicts().empty(),
          .converters = converters(),
          .locations = scene_.who.locations(),
          .threads = scene_.options.threads,
          .accuracy = scene_.options.accuracy,
          .seed = scene_.options.seed,
          .compile_limit = scene_.options.compile_limit,
          .run_limit = scene_.options.run_limit,
          .deadline = scene_.budget.after(Budget::kPricingShare),
          .latest = scene_.budget.after(Budget::kMeasuringShare),
          .progress = scene_.progress,
          .repros = &scene_.repros,
          .stop = scene_.options.stop};
}

/// Half of the time goes to bodies at most: the operators around them wait for it.
PricingOptions PricedPool::bodies_pricing() const {
  PricingOptions options = pricing_options();
  const Clock::time_point now = Clock::now();
  options.deadline = now + (options.deadline - now) / 2;
  return options;
}

/// Everyone at home who is not an engine may convert between the common formats.
std::vector<std::string> PricedPool::converters() const {
  std::vector<std::string> names = {kHostBackend};
  for (const std::string& name : at_home(scene_.who.locations(), scene_.who.backends()))
    if (scene_.registry.get(name) && !scene_.is_engine(name)) names.push_back(name);
  return names;
}

// ---- covers --------------------------------------------------------------------------------------------------
CoverRequest PricedPool::request(const Corrections& corrections) const {
  const Graph& graph = scene_.prepared.graph;
  CoverRequest request;
  request.graph = &graph;
  request.pool = &pool_;
  request.costs = corrected_costs(graph, pool_, costs_, corrections);
  request.backends = scene_.who.backends();
  if (!bodies_.empty()) request.backends.emplace_back(kControlBackend);
  request.host_fills = scene_.options.only.has_value();
  request.conflicts = scene_.who.conflicts();
  request.locations = scene_.who.locations();
  request.search.capacity = scene_.who.locations().capacity;
  request.search.max_states = most_states(scene_.budget.seconds());
  if (scene_.options.objective.is_time_alone()) return request;
  request.search.ns_per_byte = scene_.options.objective.ns_per_byte;
  if (cap_ > 0) request.search.capacity[kHome] = cap_;
  for (const Candidate& candidate : pool_.candidates)
    request.workspace_bytes.push_back(
        memory_.of(graph, pool_.regions[candidate.region], candidate.backend, candidate.variant));
  return request;
}

Result<std::vector<Artifact>> PricedPool::artifacts(Cover& cover) {
  attach_bodies(bodies_, cover);
  COLLAGE_TRY(std::vector<Artifact> own, pricing_->artifacts(cover));
  memory_.learn(cover, own);
  return with_bodies(bodies_, cover, std::move(own));
}

Result<std::vector<Artifact>> PricedPool::remade_artifacts(const Cover& cover) {
  return placer_->artifacts(scene_.prepared.graph, cover, *pricing_);
}

Result<void> PricedPool::add_regions_of(Cover& cover, const Corrections& corrections) {
  return add_engine_regions(scene_.prepared.graph, corrections, cover, *pricing_, pool_, costs_);
}

bool PricedPool::lower_cap(std::int64_t least_over_cap) {
  const std::int64_t cap = scene_.options.objective.memory_cap;
  if (cap_ <= 0) return false;
  cap_ -= std::clamp(least_over_cap - cap, std::max<std::int64_t>(1, cap / 64), std::max<std::int64_t>(1, cap / 8));
  return cap_ > 0;
}

ScheduleContext PricedPool::schedules() {
  return {.graph = scene_.prepared.graph,
          .registry = scene_.registry,
          .store = scene_.store,
          .pricing = *pricing_,
          .pool = pool_,
          .costs = costs_,
          .compile = scene_.compile()};
}

}  // namespace collage
