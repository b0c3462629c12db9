#include "tune/confirm/level2.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"
#include "plan/file/plan_file.h"
#include "tune/jobs.h"
#include "tune/proposers.h"
#include "worker/frame.h"

namespace collage {
namespace {

/// A plan must be expected to gain this share of the time to enter the contest.
constexpr double kWorthwhile = 0.005;
constexpr std::size_t kFewestBlocks = 2;
constexpr double kShareOfBudget = 0.25;
constexpr double kLeastSeconds = 2;
/// A search cut short is done again when it may take so many times as long.
constexpr double kWorthAnother = 2;

/// A cover by its steps; those of bodies follow from the operator's and are not known to the search.
std::string text_of(const Graph& graph, Cover cover) {
  cover.cost_ns = 0;
  for (CoverStep& step : cover.steps)
    if (auto* const control = std::get_if<CoverControl>(&step.work)) control->bodies.clear();
  return to_text(graph, cover);
}

/// What a finished search said.
struct StoredAnswer {
  std::string genome;  ///< empty: nothing beats what is there
  bool finished = true;
  double seconds = 0;
};

std::optional<StoredAnswer> answer_from(const std::optional<std::string>& json) {
  if (!json) return std::nullopt;
  const auto object = parse_json(*json, "stored verdict");
  if (!object) return std::nullopt;
  auto verdict = read_json("stored verdict", [&] {
    return StoredAnswer{
        .genome = object->at("genome"), .finished = object->at("finished"), .seconds = object->at("seconds")};
  });
  return verdict ? std::optional(std::move(*verdict)) : std::nullopt;
}

class Level2 {
 public:
  Level2(const Level2Request& request, Store& store) : request_(request), store_(store), decoder_(request.problem) {}

  std::optional<EvolvedPlan> run() {
    const Graph& graph = *request_.problem.graph;
    const auto level1 = decoder_.cover_of(genome_of_one(graph.nodes.size(), {}));
    if (!level1 || !is_worth_trying(*level1)) return std::nullopt;
    const std::string key = "level2|" + hash_hex(request_.question + "|" + text_of(graph, *level1));
    std::optional<StoredAnswer> verdict = answer_from(store_.verdict(key));
    if (!verdict || (!verdict->finished && kWorthAnother * verdict->seconds < request_.seconds)) {
      verdict = search();
      if (!verdict) return std::nullopt;
      if (!request_.evolve.stop.stop_requested())
        store_.put_verdict(
            key,
            to_line(Json{{"genome", verdict->genome}, {"finished", verdict->finished}, {"seconds", verdict->seconds}}));
    }
    return plan_of(verdict->genome);
  }

 private:
  bool is_worth_trying(const Cover& level1) {
    if (request_.problem.engines.empty()) return false;
    const auto places = block_places(*request_.problem.graph, *request_.problem.uses);
    return count_eligible_blocks(choose_genes(decoder_, places, level1)) >= kFewestBlocks;
  }

  std::optional<StoredAnswer> search() {
    if (request_.seconds <= 0 || request_.evolve.stop.stop_requested()) return std::nullopt;
    EvolveOptions options = request_.evolve;
    const auto end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(request_.seconds));
    options.out_of_time = [end] { return Clock::now() > end; };
    options.on_generation = [this](const Generation& generation) { say(generation); };
    const auto result = evolve(
        request_.problem, [this](const Cover& cover) { return evaluate(cover); }, options);
    if (!result) return std::nullopt;
    StoredAnswer verdict{.genome = {}, .finished = result->finished, .seconds = request_.seconds};
    if (result->best && is_gain(*result->best)) verdict.genome = to_text(result->best->genome);
    return verdict;
  }

  [[nodiscard]] const Contestant* timed(const Cover& cover) const {
    const std::string text = text_of(*request_.problem.graph, cover);
    for (const Contestant* contestant : request_.timed)
      if (text_of(*request_.problem.graph, contestant->cover) == text) return contestant;
    return nullptr;
  }

  Result<Evaluation> evaluate(const Cover& cover) {
    if (const Contestant* known = timed(cover)) {
      if (known->median_ns > 0) return Evaluation{.ns = known->median_ns, .step_ns = known->step_ns};
      return fail(ExitCode::kUnsupported, "tune/plan-failed", known->name, known->failure);
    }
    COLLAGE_TRY(const RealisedPlan plan, request_.realise(cover));
    return request_.time(plan);
  }

  [[nodiscard]] bool is_gain(const Evolved& best) const {
    return static_cast<double>(best.evaluation.ns) < (1 - kWorthwhile) * static_cast<double>(request_.best_ns) &&
           timed(best.cover) == nullptr;
  }

  std::optional<EvolvedPlan> plan_of(const std::string& genome_text) {
    if (genome_text.empty()) return std::nullopt;
    const auto genome = parse_genome(genome_text, request_.problem.graph->nodes.size());
    if (!genome) return std::nullopt;
    auto cover = decoder_.cover_of(*genome);
    if (!cover) return std::nullopt;
    auto plan = request_.realise(*cover);
    if (!plan) return std::nullopt;
    return EvolvedPlan{.cover = std::move(*cover), .plan = std::move(*plan)};
  }

  void say(const Generation& generation) const {
    if (!request_.progress) return;
    request_.progress({.phase = "evolve",
                       .done = generation.number,
                       .total = request_.evolve.generations,
                       .best_us = static_cast<double>(generation.best->evaluation.ns) / 1000,
                       .note = {}});
  }

  const Level2Request& request_;
  Store& store_;
  GenomeDecoder decoder_;
};

}  // namespace

std::optional<EvolvedPlan> find_evolved_plan(const Level2Request& request, Store& store) {
  return Level2(request, store).run();
}

double level2_seconds(double budget_s, double elapsed_s) {
  return std::min({kShareOfBudget * budget_s, budget_s - elapsed_s, std::max(kLeastSeconds, 0.5 * elapsed_s)});
}

std::expected<Variant, Refusal> plain_variant(Registry& registry, const std::string& engine, const Graph& graph,
                                              const Region& region, std::span<const NodeRule> rules,
                                              const CompileOptions& options) {
  if (!is_allowed(graph, region.nodes, engine, rules))
    return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = "a ban or a pin"});
  const auto backend = registry.get(engine);
  if (!backend)
    return std::unexpected(Refusal{.reason = RefusalReason::kMissing, .detail = to_string(backend.error())});
  auto variants = guarded_support(**backend, graph, region, options);
  if (!variants) return std::unexpected(std::move(variants.error()));
  for (Variant& variant : *variants)
    if (std::ranges::all_of(variant.input_formats, &Format::is_plain) &&
        std::ranges::all_of(variant.output_formats, &Format::is_plain))
      return std::move(variant);
  return std::unexpected(Refusal{.reason = RefusalReason::kFormat, .detail = "no variant with plain ports"});
}

Result<void> add_engine_regions(const TuneTask& task, const Corrections& corrections, const MeasureLimits& limits,
                                Cover& cover, Priced& priced) {
  const Graph& graph = task.graph();
  CandidatePool& pool = priced.pool.candidates;
  CandidatePool fresh;
  std::vector<CoverStep*> steps;
  for (CoverStep& step : cover.steps) {
    const auto* const kernel = std::get_if<CoverKernel>(&step.work);
    if (kernel == nullptr || !std::holds_alternative<Estimated>(step.cost)) continue;
    fresh.candidates.push_back({.region = static_cast<std::uint32_t>(fresh.regions.size()),
                                .backend = step.backend,
                                .variant = kernel->variant});
    fresh.regions.push_back(kernel->region);
    steps.push_back(&step);
  }
  COLLAGE_TRY(const std::vector<Cost> costs, price_fresh(task, fresh, limits, priced));
  const std::vector<Cost> corrected = corrected_costs(graph, fresh, costs, corrections);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto ns = nanoseconds_of(corrected[s]);
    if (!ns) continue;
    cover.cost_ns += *ns - *nanoseconds_of(steps[s]->cost);
    steps[s]->cost = corrected[s];
  }
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Region& region = fresh.regions[s];
    Candidate& candidate = fresh.candidates[s];
    const auto known = std::ranges::find_if(pool.candidates, [&](const Candidate& made) {
      return made.backend == candidate.backend && made.variant == candidate.variant &&
             pool.regions[made.region] == region;
    });
    // One that was proposed and not measured has a cost now.
    if (known != pool.candidates.end()) {
      priced.costs[static_cast<std::size_t>(known - pool.candidates.begin())] = costs[s];
      continue;
    }
    candidate.region = static_cast<std::uint32_t>(pool.regions.size());
    pool.regions.push_back(region);
    pool.candidates.push_back(std::move(candidate));
    priced.costs.push_back(costs[s]);
  }
  return {};
}

Result<Evaluation> evaluation_of(const std::vector<ConfirmLane>& lanes, std::int64_t known_ns) {
  for (const ConfirmLane& lane : lanes)
    if (!lane.failure.empty() || lane.lane.samples_ns.empty())
      return fail(ExitCode::kUnsupported, "tune/plan-failed", lane.lane.name, lane.failure, "a plan that runs");
  COLLAGE_CHECK(lanes.size() == 2, "the plan and what it is compared with");
  const double ratio = median_ratio(lanes[0].lane, lanes[1].lane);
  return Evaluation{.ns = static_cast<std::int64_t>(ratio * static_cast<double>(known_ns)),
                    .step_ns = lanes[0].step_ns};
}

PairTimer::~PairTimer() {
  std::error_code ignored;
  for (const char* name : {"level2.collage", "level2-other.collage"})
    std::filesystem::remove(folder_.file(name), ignored);
}

Result<Evaluation> PairTimer::time(const RealisedPlan& plan, const RealisedPlan& other) {
  if (!has_other_) {
    COLLAGE_TRY_VOID(save_plan(packer_.pack(other), folder_.file("level2-other.collage"), Durability::kPassing));
    has_other_ = true;
  }
  COLLAGE_TRY_VOID(save_plan(packer_.pack(plan), folder_.file("level2.collage"), Durability::kPassing));
  const GuardOptions& guard = options_.guard;
  const ConfirmRequest request = {.plans = {{.name = "plan", .file = folder_.file("level2.collage")},
                                            {.name = "other", .file = folder_.file("level2-other.collage")}},
                                  .inputs = guard.inputs,
                                  .expected = guard.expected,
                                  .more = guard.more,
                                  .accuracy = guard.accuracy,
                                  .threads = guard.threads,
                                  .seconds = options_.seconds,
                                  .min_rounds = options_.min_rounds,
                                  .seed = guard.seed,
                                  .quiet_ns = guard.quiet_ns};
  COLLAGE_TRY(const std::vector<ConfirmLane> lanes, confirm(worker_, request, guard.stop, guard.patience));
  return evaluation_of(lanes, options_.known_ns);
}

}  // namespace collage
