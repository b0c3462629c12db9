#include "tune/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/hash.h"
#include "measure/file.h"
#include "measure/machine.h"
#include "measure/pricer.h"
#include "measure/store.h"
#include "plan/plan_file.h"
#include "tune/assemble.h"
#include "tune/bodies.h"
#include "tune/contest.h"
#include "tune/cost_bounds.h"
#include "tune/cost_table.h"
#include "tune/course.h"
#include "tune/covers.h"
#include "tune/jobs.h"
#include "tune/lazy_costs.h"
#include "tune/level2.h"
#include "tune/neighbours.h"
#include "tune/node_rules.h"
#include "tune/outcome.h"
#include "tune/participants.h"
#include "tune/pricing.h"
#include "tune/progress_meter.h"
#include "tune/proposers.h"
#include "tune/replay.h"
#include "tune/rivals.h"
#include "tune/schedule_stage.h"
#include "tune/stages.h"
#include "tune/time_limit.h"
#include "tune/whole_model.h"

namespace collage {
namespace {

using Seconds = std::chrono::duration<double>;

class Tuner {
 public:
  Tuner(const TuneOptions& options, Registry& registry, WorkFolder folder, Store store)
      : time_limit_(options.stop),
        options_(limited(options, time_limit_)),
        user_stop_(options.stop),
        registry_(registry),
        folder_(std::move(folder)),
        store_(std::move(store)),
        worker_(options.worker_command),
        repros_(options.repros),
        meter_(options.progress, options.budget_s + options.tune_budget_s, [this] { return elapsed_s() + tuning_s_; }) {
  }

  Result<TuneReport> run() {
    COLLAGE_TRY_VOID(who_.choose());
    COLLAGE_TRY(prepared_, prepare(prepare_options(), folder_, registry_, worker_));
    COLLAGE_TRY_VOID(who_.rehearse(prepared_));
    COLLAGE_TRY_VOID(who_.gather_rules(prepared_));
    COLLAGE_TRY_VOID(
        check_user_rules(prepared_.graph, uses_of(prepared_.graph), options_.user_rules, who_.proposing()));
    COLLAGE_TRY_VOID(make_rivals());
    COLLAGE_TRY_VOID(make_covers());
    COLLAGE_TRY_VOID(judge());
    COLLAGE_TRY_VOID(tune_schedules());
    // There is a plan to ship: from now on the end of the budget ends the tune.
    time_limit_.arm(after(kStopShare));
    COLLAGE_TRY_VOID(improve_with_context());
    COLLAGE_TRY_VOID(evolve());
    if (!user_stop_.stop_requested()) course_.save(store_);
    COLLAGE_TRY_VOID(ship());
    report_.interrupted = user_stop_.stop_requested();
    report_.tune_s = Seconds(Clock::now() - start_).count();
    const double overrun_s = report_.tune_s - tuning_s_ - portable_s_ - kMostOverrun * options_.budget_s;
    report_.repros = repros_.kept();
    if (overrun_s > 0 && !report_.interrupted)
      report_.notes.push_back(fmt::format("the budget of {:.3g} s was too small for a first plan", options_.budget_s));
    for (const std::string& note : prepared_.notes) report_.notes.push_back(note);
    for (const std::string& warning : store_.warnings()) report_.notes.push_back(warning);
    return std::move(report_);
  }

 private:
  static TuneOptions limited(TuneOptions options, const TimeLimit& limit) {
    options.stop = limit.token();
    return options;
  }

  /// The moment when this share of the budget is used up.
  [[nodiscard]] Clock::time_point after(double share) const {
    return start_ + std::chrono::duration_cast<Clock::duration>(Seconds(share * options_.budget_s + tuning_s_));
  }

  void say(const std::string& phase, std::string note = {}) const {
    progress_({.phase = phase, .note = std::move(note)});
  }

  bool is_engine(const std::string& name) const {
    const auto backend = registry_.get(name);
    return backend && (*backend)->info().is_engine;
  }

  PrepareOptions prepare_options() const {
    return {.model = options_.model,
            .shapes = options_.shapes,
            .backends = who_.proposing(),
            .accuracy = options_.accuracy,
            .seed = options_.seed,
            .input_ranges = options_.input_ranges,
            .progress = progress_};
  }

  Plan header() const {
    Plan header;
    header.model_path = options_.model;
    header.model_hash = prepared_.imported.model_hash;
    header.shapes = options_.shapes.entries;
    header.machine = machine_print();
    header.accuracy = name_of(options_.accuracy);
    header.threads = options_.threads;
    return header;
  }

  // ---- rivals ----------------------------------------------------------------------------------------------
  /// Every engine on the user's file and on the simplified graph, each as a plan of one step.
  Result<void> make_rivals() {
    say("rivals");
    for (const std::string& name : who_.backends()) {
      COLLAGE_TRY(Backend * backend, registry_.get(name));
      if (!backend->info().is_engine) continue;
      // One rival is a plan that can ship.
      if (out_of_time() && contest_.competing() > 0) break;
      if (!is_allowed(prepared_.graph, all_nodes(), name, who_.rules())) continue;
      if (!allows(prepared_.graph, uses_of(prepared_.graph), options_.user_rules, all_nodes(), name)) continue;
      add_rival(name, name, prepared_.imported.graph, prepared_.imported_file, prepared_.original_file);
      add_rival(name + std::string(kOnSimplified), name, prepared_.graph, prepared_.graph_file, "");
    }
    return {};
  }

  NodeSet all_nodes() const {
    NodeSet nodes(prepared_.graph.nodes.size());
    for (std::size_t n = 0; n < prepared_.graph.nodes.size(); ++n) nodes.insert(n);
    return nodes;
  }

  void add_rival(const std::string& title, const std::string& engine, const Graph& graph, const std::string& graph_file,
                 const std::string& model_file) {
    auto made = [&]() -> Result<Contestant> {
      const Cover cover = whole_cover(graph, engine);
      COLLAGE_TRY(Artifact artifact, rival_artifact(engine, cover.steps.front().region, graph, graph_file, model_file));
      return realise_contestant(title, graph, cover, {std::move(artifact)}, true);
    }();
    if (!made && model_file.empty()) keep_repro_of_rival(engine, made.error());
    if (made)
      contest_.add(std::move(*made));
    else if (made.error().code == kOverMemory)
      notes_.push_back(title + " left out: " + to_string(made.error()));
    else
      notes_.push_back(title + " does not run this model: " + made.error().saw);
  }

  /// An engine that brought its worker down while it compiled the simplified graph.
  void keep_repro_of_rival(const std::string& engine, const Error& error) {
    if (error.code != "worker/died") return;
    auto failed = failed_rival({.graph = prepared_.graph,
                                .record = prepared_.record,
                                .engine = engine,
                                .rules = who_.rules(),
                                .compile = {.threads = options_.threads, .accuracy = options_.accuracy},
                                .seed = options_.seed,
                                .compile_limit = options_.compile_limit,
                                .run_limit = options_.run_limit},
                               error.saw, registry_);
    if (failed) repros_.keep(*std::move(failed));
  }

  Result<Artifact> rival_artifact(const std::string& engine, const Region& region, const Graph& graph,
                                  const std::string& graph_file, const std::string& model_file) {
    return collage::rival_artifact({.engine = engine,
                                    .region = region,
                                    .graph = graph,
                                    .graph_file = graph_file,
                                    .model_file = model_file,
                                    .model_hash = prepared_.imported.model_hash,
                                    .shapes = shapes_text(),
                                    .threads = options_.threads},
                                   registry_, store_, worker_);
  }

  std::string shapes_text() const {
    std::string text;
    for (const auto& [name, shape] : options_.shapes.entries) text += name + "=" + shape + ";";
    return text;
  }

  Result<Contestant> realise_contestant(const std::string& name, const Graph& graph, const Cover& cover,
                                        std::vector<Artifact> artifacts, bool is_rival) {
    AssembleRequest assembly;
    assembly.graph = &graph;
    assembly.cover = &cover;
    assembly.artifacts = std::move(artifacts);
    assembly.header = header();
    assembly.header.shipped = is_rival ? name : "cover";
    COLLAGE_TRY(RealisedPlan plan, assemble(assembly, registry_));
    const std::int64_t bytes = memory_.of(graph, cover, plan.plan);
    const Objective& objective = options_.objective;
    if (objective.memory_cap > 0 && bytes > objective.memory_cap) {
      least_over_cap_ = std::min(least_over_cap_, bytes);
      return fail(ExitCode::kUnsupported, kOverMemory, name, fmt::format("{} bytes", bytes),
                  fmt::format("at most {} bytes", objective.memory_cap));
    }
    const double extra_ns = objective.ns_per_byte * static_cast<double>(bytes);
    return Contestant{.name = name,
                      .plan = std::move(plan),
                      .is_rival = is_rival,
                      .extra_ns = std::llround(extra_ns),
                      .memory_bytes = bytes,
                      .cover = cover};
  }

  // ---- covers ----------------------------------------------------------------------------------------------
  Result<void> make_covers() {
    const Graph& graph = prepared_.graph;
    const Uses uses = uses_of(graph);
    if (graph.nodes.empty()) return {};
    say("propose");
    const CompileOptions compile{.threads = options_.threads, .accuracy = options_.accuracy};
    COLLAGE_TRY(std::vector<Proposer> proposers, make_proposers(registry_, who_.proposing(), graph, compile));
    add_user_rules(graph, options_.user_rules, proposers);
    pool_ = propose(graph, uses, proposers);
    COLLAGE_TRY_VOID(keep_forced_regions(graph, options_.user_rules, pool_));
    apply_rules(graph, who_.rules(), pool_);
    pricing_.emplace(pricing_options(), graph, registry_, store_);
    COLLAGE_TRY_VOID(place_bodies());
    report_.schedules.known = add_known_schedules(schedule_context());
    auto priced = price();
    if (!priced && priced.error().exit == ExitCode::kLimit && contest_.competing() > 0) {
      // No cover is small enough, but an engine's plan is.
      why_no_covers_ = to_string(priced.error());
      notes_.push_back("no mixed plan: " + why_no_covers_);
      count_measured(outcome({}), report_);
      pricing_.reset();
      return {};
    }
    if (!priced) return std::unexpected(std::move(priced).error());
    costs_ = std::move(*priced);
    why_unmeasured_.assign(costs_.size(), why_not_measured(!options_.measures_all));
    COLLAGE_TRY_VOID(join_neighbours(uses, proposers));
    count_candidates();
    if (!options_.cost_table.empty()) {
      const std::string table = cost_table(graph, pool_, costs_);
      const std::string_view piece = table;
      COLLAGE_TRY_VOID(write_file(options_.cost_table, {&piece, 1}));
    }
    say("search");
    return add_covers({});
  }

  /// The bodies of control-flow operators compete with engines that take the whole operator.
  Result<void> place_bodies() {
    placer_.emplace(BodiesOptions{.proposing = at_home(who_.locations(), who_.proposing()),
                                  .backends = at_home(who_.locations(), who_.backends()),
                                  .host_fills = options_.only.has_value(),
                                  .measures_all = options_.measures_all,
                                  .rules = who_.rules(),
                                  .user_rules = options_.user_rules,
                                  .pricing = bodies_pricing()},
                    BodiesContext{registry_, store_, worker_, folder_});
    costs_.assign(pool_.candidates.size(), Unknown{});
    COLLAGE_TRY(bodies_, placer_->place(prepared_.graph, pool_, costs_));
    return {};
  }

  /// Those of bodies have costs already.
  Result<std::vector<Cost>> price() {
    bounds_.emplace(prepared_.graph, pool_, options_.accuracy, peak_rates(store_), options_.threads);
    if (!options_.measures_all) return pricing_->price_lazily(cover_request({}), *bounds_);
    COLLAGE_TRY(std::vector<Cost> costs, pricing_->price(pool_, costs_));
    for (std::size_t c = 0; c < costs.size(); ++c) bounds_->learn(c, costs[c]);
    if (elapsed_s() < kMeasuringShare * options_.budget_s) return costs;
    bounds_->fit();
    return LazyCosts(prepared_.graph, pool_, *bounds_, std::move(costs)).forecast(Forecast::kExpected, 1);
  }

  /// What is true of candidates that were left over just now.
  Unmeasured why_not_measured(bool lazily) const {
    if (user_stop_.stop_requested()) return Unmeasured::kStopped;
    return lazily && !out_of_time() ? Unmeasured::kNotNeeded : Unmeasured::kOutOfTime;
  }

  void count_candidates() { report_.candidates = pool_.candidates.size() + placer_->candidate_count(); }

  /// Half of the time goes to bodies at most: the operators around them wait for it.
  PricingOptions bodies_pricing() {
    PricingOptions options = pricing_options();
    const Clock::time_point now = Clock::now();
    options.deadline = now + (options.deadline - now) / 2;
    return options;
  }

  /// Steps of one backend that touch in the best cover become candidates as one step.
  Result<void> join_neighbours(const Uses& uses, std::span<const Proposer> proposers) {
    const MayRun may_run = [&](const NodeSet& nodes, const std::string& backend) {
      return is_allowed(prepared_.graph, nodes, backend, who_.rules()) &&
             allows(prepared_.graph, uses, options_.user_rules, nodes, backend);
    };
    for (int round = 0; round < kNeighbourRounds && !out_of_time(); ++round) {
      const auto best = pricing_->best(cover_request({}));
      if (!best) return {};  // add_covers() says why
      CandidatePool fresh =
          neighbour_candidates(prepared_.graph, uses, best->cover, proposers, may_run, pool_, kMostNeighbours);
      if (fresh.candidates.empty()) return {};
      COLLAGE_TRY(const std::vector<Cost> priced, pricing_->price(fresh));
      costs_.insert(costs_.end(), priced.begin(), priced.end());
      append(std::move(fresh), pool_);
      why_unmeasured_.resize(costs_.size(), why_not_measured(false));
    }
    return {};
  }

  /// For pricing.
  bool out_of_time() const { return options_.stop.stop_requested() || elapsed_s() > kPricingShare * options_.budget_s; }

  PricingOptions pricing_options() {
    return {.worker_command = options_.worker_command,
            .graph_file = prepared_.graph_file,
            .record = prepared_.record,
            .backends_apart = !who_.conflicts().empty(),
            .converters = converters(),
            .locations = who_.locations(),
            .threads = options_.threads,
            .accuracy = options_.accuracy,
            .seed = options_.seed,
            .compile_limit = options_.compile_limit,
            .run_limit = options_.run_limit,
            .deadline = after(kPricingShare),
            .latest = after(kMeasuringShare),
            .progress = progress_,
            .repros = &repros_,
            .stop = options_.stop};
  }

  /// Everyone at home who is not an engine may convert between the common formats.
  std::vector<std::string> converters() const {
    std::vector<std::string> names = {kHostBackend};
    for (const std::string& name : at_home(who_.locations(), who_.backends()))
      if (const auto backend = registry_.get(name); backend && !(*backend)->info().is_engine) names.push_back(name);
    return names;
  }

  CoverRequest cover_request(const Corrections& corrections) const {
    CoverRequest request;
    request.graph = &prepared_.graph;
    request.pool = &pool_;
    request.costs = corrected_costs(prepared_.graph, pool_, costs_, corrections);
    request.backends = who_.backends();
    if (!bodies_.empty()) request.backends.emplace_back(kControlBackend);
    request.host_fills = options_.only.has_value();
    request.conflicts = who_.conflicts();
    request.locations = who_.locations();
    request.search.capacity = who_.locations().capacity;
    if (options_.objective.is_time_alone()) return request;
    request.search.ns_per_byte = options_.objective.ns_per_byte;
    if (search_cap_ > 0) request.search.capacity[kHome] = search_cap_;
    for (const Candidate& candidate : pool_.candidates)
      request.workspace_bytes.push_back(
          memory_.of(prepared_.graph, pool_.regions[candidate.region], candidate.backend, candidate.variant));
    return request;
  }

  /// Searches under the costs, corrected by context, and turns the covers that are new into plans.
  Result<void> add_covers(const Corrections& corrections) {
    auto covers = pricing_->search(cover_request(corrections));
    if (!covers) {
      notes_.push_back("no mixed plan: " + to_string(covers.error()));
      return {};
    }
    const std::size_t broken = pricing_->broken_count();
    least_over_cap_ = kNoBytes;
    bool fits = false;
    begin_course(*covers);
    for (NamedCover& named : *covers) {
      const double share = fits ? kCoversShare : kContestShare;
      if (contest_.competing() > 0 && course_.decides(elapsed_s() > share * options_.budget_s)) break;
      if (note_cover(named.result.cover)) fits |= add_cover(std::move(named), corrections);
    }
    // The memory map of the plan has the last word: what it takes beyond the search's count comes off the search's cap,
    // in small bites, since another cover may be counted better.
    if (!fits && least_over_cap_ != kNoBytes && search_cap_ > 0) {
      const std::int64_t cap = options_.objective.memory_cap;
      search_cap_ -=
          std::clamp(least_over_cap_ - cap, std::max<std::int64_t>(1, cap / 64), std::max<std::int64_t>(1, cap / 8));
      if (search_cap_ > 0) return add_covers(corrections);
    }
    // What failed while its plan was made is out; the others' best plans may be new ones without it.
    if (pricing_->broken_count() > broken) return add_covers(corrections);
    return {};
  }

  /// What the first covers cost tells whether the same tune was there before.
  void begin_course(const std::vector<NamedCover>& covers) {
    std::string question =
        fmt::format("{}|{}|{}", whole_question(), options_.objective.memory_cap, options_.objective.ns_per_byte);
    for (const NamedCover& named : covers) question += named.name + to_text(prepared_.graph, named.result.cover);
    course_.begin(store_, question, options_.budget_s);
  }

  /// False when there was a plan with these steps before.
  bool note_cover(Cover cover) {
    cover.cost_ns = 0;  // corrected costs alone make no new plan
    std::string text = to_text(prepared_.graph, cover);
    if (std::find(cover_texts_.begin(), cover_texts_.end(), text) != cover_texts_.end()) return false;
    cover_texts_.push_back(std::move(text));
    return true;
  }

  /// False when there is no such plan.
  bool add_cover(NamedCover named, const Corrections& corrections) {
    const std::string suffix = corrections.empty() ? "" : ", corrected";
    auto made = contestant_of(named.name + suffix, named.result.cover);
    if (!made) {
      notes_.push_back("plan \"" + named.name + "\" left out: " + to_string(made.error()));
      return false;
    }
    named.result.cover = made->cover;
    made->search = std::move(named.result);
    made->corrections = corrections;
    contest_.add(std::move(*made));
    return true;
  }

  /// A cover of the search as a plan, with its bodies' steps.
  Result<Contestant> contestant_of(const std::string& name, Cover cover) {
    attach_bodies(bodies_, cover);
    COLLAGE_TRY(std::vector<Artifact> own, pricing_->artifacts(cover));
    memory_.learn(cover, own);
    return realise_contestant(name, prepared_.graph, cover, with_bodies(bodies_, cover, std::move(own)), false);
  }

  // ---- the guard -------------------------------------------------------------------------------------------
  Result<void> judge() {
    say("confirm");
    if (contest_.competing() == 0 && least_over_cap_ != kNoBytes)
      return fail(ExitCode::kUnsupported, kOverMemory, options_.model,
                  fmt::format("{} bytes for the most frugal plan found", least_over_cap_), "a cap of that many bytes");
    if (contest_.competing() == 0)
      return fail(ExitCode::kUnsupported, "tune/nothing-runs", options_.model, why_nothing_runs(),
                  "at least one plan that runs");
    const Clock::time_point begin = Clock::now();
    COLLAGE_TRY_VOID(contest_.judge({.question = question(), .guard = guard_options()}));
    judging_s_ = Seconds(Clock::now() - begin).count();
    meter_.know_best(static_cast<double>(contest_.winner().median_ns) / 1000);
    say("confirm");
    return {};
  }

  std::string why_nothing_runs() const {
    if (!notes_.empty()) return notes_.back();
    return who_.notes().empty() ? "no plan" : who_.notes().back();
  }

  /// Whether another contest, if it takes as long as the last one, ends within the budget.
  bool may_judge_again() {
    if (user_stop_.stop_requested()) return false;
    return course_.decides(!options_.stop.stop_requested() && elapsed_s() + judging_s_ <= options_.budget_s);
  }

  /// Of the budget: tuning schedules has its own.
  double elapsed_s() const { return Seconds(Clock::now() - start_).count() - tuning_s_; }

  std::string question() const {
    return machine_print() + "|" + prepared_.imported.model_hash + "|" + shapes_text() + "|" +
           std::to_string(options_.threads);
  }

  /// With all that decides which candidates there are.
  std::string whole_question() const {
    std::string text = question() + "|" + std::string(name_of(options_.accuracy)) + "|" + std::to_string(options_.seed);
    for (const UserRule& rule : options_.user_rules) text += "|" + rule.text;
    for (const std::string& name : who_.backends()) text += "|" + name + " " + (*registry_.get(name))->info().build;
    return text;
  }

  GuardOptions guard_options() const {
    return {.inputs = prepared_.inputs,
            .expected = prepared_.outputs,
            .accuracy = std::string(name_of(options_.accuracy)),
            .threads = options_.threads,
            .heat_seconds = std::min(1.5, 0.02 * options_.budget_s),
            .final_seconds = std::min(8.0, 0.05 * options_.budget_s),
            .deadline = after(kContestShare),
            .apart = !who_.conflicts().empty(),
            .seed = options_.seed,
            .quiet_ns = pricing_ ? pricing_->quiet_ns() : 0,
            .stop = options_.stop};
  }

  /// Steps take another time between others than alone. Learns from the covers that were timed, searches again, and
  /// lets new covers compete, which teach in their turn.
  Result<void> improve_with_context() {
    for (int round = 0; round < kContextRounds && pricing_ && may_judge_again(); ++round) {
      const Corrections corrections = learn_corrections(prepared_.graph, contest_.timed_covers());
      contest_.retire_beaten();
      const std::size_t before = contest_.competing();
      COLLAGE_TRY_VOID(add_covers(corrections));
      if (contest_.competing() == before) return {};
      COLLAGE_TRY_VOID(judge());
    }
    return {};
  }

  // ---- schedules -------------------------------------------------------------------------------------------
  ScheduleContext schedule_context() {
    return {.graph = prepared_.graph,
            .registry = registry_,
            .store = store_,
            .pricing = *pricing_,
            .pool = pool_,
            .costs = costs_,
            .compile = {.threads = options_.threads, .accuracy = options_.accuracy}};
  }

  /// Kernels that backends can tune become faster; covers with them compete.
  Result<void> tune_schedules() {
    if (!pricing_ || options_.tune_budget_s <= 0 || options_.stop.stop_requested()) return {};
    say("schedules");
    const Clock::time_point begin = Clock::now();
    const std::size_t known = report_.schedules.known;
    auto report = collage::tune_schedules(schedule_context(), {.seconds = options_.tune_budget_s,
                                                               .question = whole_question(),
                                                               .seed = options_.seed,
                                                               .request = [this] { return cover_request({}); },
                                                               .bounds = &*bounds_,
                                                               .progress = progress_,
                                                               .stop = options_.stop});
    tuning_s_ = Seconds(Clock::now() - begin).count();
    pricing_->allow_until(after(kMeasuringShare));
    if (!report) return std::unexpected(std::move(report).error());
    report_.schedules = *std::move(report);
    report_.schedules.known = known;
    why_unmeasured_.resize(costs_.size(), why_not_measured(false));
    count_candidates();
    if (report_.schedules.after_ns >= report_.schedules.before_ns) return {};
    const std::size_t before = contest_.competing();
    COLLAGE_TRY_VOID(add_covers({}));
    return contest_.competing() > before ? judge() : Result<void>{};
  }

  // ---- level 2 ---------------------------------------------------------------------------------------------
  /// Lets the best evolved plan compete when it should win. Its regions are candidates from then on, so that level 1
  /// and the corrections learn from it.
  Result<void> evolve() {
    // Level 2 knows time alone, and one process.
    if (!pricing_ || !may_judge_again() || options_.objective.ns_per_byte > 0 || !who_.conflicts().empty()) return {};
    const Uses uses = uses_of(prepared_.graph);
    const Corrections corrections = learn_corrections(prepared_.graph, contest_.timed_covers());
    PairTimer timer(folder_, worker_, packer_, {.guard = guard_options(), .known_ns = contest_.winner().median_ns});
    std::optional<EvolvedPlan> evolved = find_evolved_plan(level2_request(uses, corrections, timer), store_);
    if (!evolved) return {};
    COLLAGE_TRY_VOID(add_engine_regions(prepared_.graph, corrections, evolved->cover, *pricing_, pool_, costs_));
    count_candidates();
    note_cover(evolved->cover);
    attach_bodies(bodies_, evolved->cover);
    contest_.add({.name = "evolved",
                  .plan = std::move(evolved->plan),
                  .cover = std::move(evolved->cover),
                  .corrections = corrections});
    COLLAGE_TRY_VOID(judge());
    return improve_with_context();
  }

  Level2Request level2_request(const Uses& uses, const Corrections& corrections, PairTimer& timer) {
    const CoverRequest request = pricing_->completed(cover_request(corrections));
    Level2Request level2;
    level2.problem = {
        .graph = &prepared_.graph,
        .uses = &uses,
        .candidates = usable_candidates(request),
        .conversions = request.conversions,
        .search = request.search,
        .engines = {},
        .backends = who_.backends(),
        .take = [this, &uses](const std::string& engine, const Region& region) -> std::expected<Variant, Refusal> {
          if (!allows(prepared_.graph, uses, options_.user_rules, region.nodes, engine))
            return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = "a rule"});
          return plain_variant(registry_, engine, prepared_.graph, region, who_.rules(),
                               {.threads = options_.threads, .accuracy = options_.accuracy});
        }};
    level2.question = whole_question();
    for (const std::string& name : who_.backends())
      if (is_engine(name)) level2.problem.engines.push_back(name);
    level2.timed = contest_.losers();
    level2.timed.push_back(&contest_.winner());
    std::erase_if(level2.timed,
                  [](const Contestant* one) { return one->is_rival && !one->name.ends_with(kOnSimplified); });
    level2.best_ns = contest_.winner().median_ns;
    level2.realise = [this](const Cover& cover) -> Result<RealisedPlan> {
      COLLAGE_TRY(Contestant made, contestant_of("evolved", cover));
      return std::move(made.plan);
    };
    level2.time = [this, &timer](const RealisedPlan& plan) { return timer.time(plan, contest_.winner().plan); };
    level2.seconds = course_.amount(level2_seconds(options_.budget_s, elapsed_s() + judging_s_));
    level2.evolve.seed = options_.seed;
    level2.evolve.stop = options_.stop;
    level2.progress = progress_;
    return level2;
  }

  // ---- result ----------------------------------------------------------------------------------------------
  /// What ships also runs on lesser processors, where backends have kernels for them. This comes after the budget.
  void widen(Contestant& winner) {
    const auto has_lesser = [&](const PlanBackend& used) {
      const auto backend = registry_.get(used.name);
      return backend && !(*backend)->info().lesser.empty();
    };
    if (!pricing_ || user_stop_.stop_requested() || std::ranges::none_of(winner.plan.plan.backends, has_lesser)) return;
    say("widen");
    const Clock::time_point begin = Clock::now();
    const Seconds most(std::max(kPortableSeconds, kPortableShare * options_.budget_s));
    pricing_->make_portable(
        {.deadline = begin + std::chrono::duration_cast<Clock::duration>(most), .stop = user_stop_});
    auto wide = [&]() -> Result<Contestant> {
      COLLAGE_TRY(auto artifacts, placer_->artifacts(prepared_.graph, winner.cover, *pricing_));
      return realise_contestant(winner.name, prepared_.graph, winner.cover, std::move(artifacts), false);
    }();
    portable_s_ = Seconds(Clock::now() - begin).count();
    for (const std::string& kernel : pricing_->unportable())
      notes_.push_back("runs on no lesser processor than this one: " + kernel);
    if (!wide) {
      notes_.push_back("runs on no lesser processor than this one: " + to_string(wide.error()));
      return;
    }
    winner.plan = std::move(wide->plan);
    winner.memory_bytes = wide->memory_bytes;
  }

  Result<void> ship() {
    if (options_.on_prepared) COLLAGE_TRY_VOID(options_.on_prepared(prepared_));
    widen(contest_.winner());
    const Alternatives others = alternatives();
    const Outcome ended = outcome(others);
    fill_report(ended, report_);
    RealisedPlan plan = std::move(contest_.winner().plan);
    plan.plan.shipped = report_.shipped;
    plan.plan.report_json = plan_report(report_, to_json(explain_cover(explain_inputs(ended, report_))));
    return save_plan(packer_.pack(std::move(plan)), options_.output);
  }

  /// Of the plan that ships; `alternatives` outlives it.
  Outcome outcome(const Alternatives& alternatives) {
    Outcome ended{.options = options_,
                  .graph = prepared_.graph,
                  .who = who_,
                  .contest = contest_,
                  .pool = pool_,
                  .costs = costs_,
                  .why_unmeasured = why_unmeasured_,
                  .alternatives = alternatives,
                  .notes = notes_,
                  .bounds = bounds_ ? &*bounds_ : nullptr,
                  .has_bodies = !bodies_.empty()};
    ended.why_unmeasured.resize(costs_.size(), why_not_measured(false));
    if (placer_) ended.placer = &*placer_;
    if (!pricing_) return ended;
    ended.pricing = &*pricing_;
    ended.request = cover_request({});
    return ended;
  }

  Alternatives alternatives() {
    if (user_stop_.stop_requested()) return {.why_none = "the tune was stopped"};
    if (!pricing_) return {.why_none = why_no_covers_};
    return find_alternatives(pricing_->completed(cover_request({})));
  }

  /// The rest of the budget is for contests and level 2, which leave some for writing the plan.
  static constexpr double kPricingShare = 0.7;
  static constexpr double kMeasuringShare = 0.75;  ///< of single operators, so that a cover exists
  static constexpr double kCoversShare = 0.85;     ///< then the first plan has to do
  static constexpr double kContestShare = 0.95;
  static constexpr double kStopShare = 0.98;
  static constexpr double kMostOverrun = 1.05;
  /// What kernels for lesser processors may take after the budget: the more of these two.
  static constexpr double kPortableShare = 0.25;
  static constexpr double kPortableSeconds = 30;
  static constexpr int kContextRounds = 2;
  static constexpr int kNeighbourRounds = 2;
  static constexpr std::size_t kMostNeighbours = 12;
  static constexpr const char* kOverMemory = "tune/over-memory";
  static constexpr std::int64_t kNoBytes = std::numeric_limits<std::int64_t>::max();
  static constexpr std::string_view kOnSimplified = " on the simplified graph";

  Clock::time_point start_ = Clock::now();
  TimeLimit time_limit_;
  const TuneOptions options_;  ///< with a stop that comes when the budget ends, too
  std::stop_token user_stop_;
  Registry& registry_;
  WorkFolder folder_;
  Store store_;
  WorkerProcess worker_;
  Participants who_{options_, registry_, worker_, store_};
  PlanPacker packer_{registry_};
  Contest contest_{folder_, store_, worker_, packer_};
  Course course_;
  ReproKeeper repros_;
  ProgressMeter meter_;
  Progress progress_ = meter_.sink();
  double judging_s_ = 0;   ///< what the last contest took
  double tuning_s_ = 0;    ///< what tuning schedules took
  double portable_s_ = 0;  ///< what kernels for lesser processors took
  StepMemory memory_{[this](const std::string& name) { return is_engine(name); }};
  std::int64_t search_cap_ = options_.objective.memory_cap;  ///< bytes the search may plan with
  std::int64_t least_over_cap_ = kNoBytes;                   ///< of the plans left out by the cap in the last round
  Prepared prepared_;
  std::vector<std::string> notes_;
  CandidatePool pool_;
  std::vector<Cost> costs_;
  std::vector<Unmeasured> why_unmeasured_;  ///< by candidate; those that came last may be missing
  std::optional<CostBounds> bounds_;
  std::optional<Pricing> pricing_;
  std::optional<BodyPlacer> placer_;
  Placements bodies_;
  std::vector<std::string> cover_texts_;
  std::string why_no_covers_ = "the graph has no nodes";  ///< holds without pricing_
  TuneReport report_;
};

}  // namespace

Result<TuneReport> tune(const TuneOptions& options, Registry& registry) {
  if (!options.replay.empty()) return replay(options, registry);
  COLLAGE_TRY_VOID(check_can_save(options.output));
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  COLLAGE_TRY(Store store, Store::open(options.store));
  Tuner tuner(options, registry, std::move(folder), std::move(store));
  auto report = tuner.run();
  // A stop that came before there was any plan to ship.
  if (!report && report.error().code == "tune/nothing-runs" && options.stop.stop_requested())
    return fail(ExitCode::kInterrupted, "tune/interrupted", options.model, "a stop before the first plan",
                "a tune that goes on until it has one");
  return report;
}

}  // namespace collage
