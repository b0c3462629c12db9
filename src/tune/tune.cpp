#include "tune/tune.h"

#include <algorithm>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "backend/portability_extension.h"
#include "plan/file/plan_file.h"
#include "timing/machine.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/level2.h"
#include "tune/confirm/rivals.h"
#include "tune/course.h"
#include "tune/outcome.h"
#include "tune/price/costs_alone.h"
#include "tune/price/priced_pool.h"
#include "tune/progress_meter.h"
#include "tune/replay.h"
#include "tune/report.h"
#include "tune/stop_watch.h"
#include "tune/time_limit.h"

namespace collage {
namespace {

class Tuner {
 public:
  Tuner(const TuneOptions& options, Registry& registry, WorkFolder folder, Store store)
      : budget_(options.budget_s),
        time_limit_(options.stop),
        options_(limited(options, time_limit_)),
        user_stop_(options.stop),
        registry_(registry),
        folder_(std::move(folder)),
        store_(std::move(store)),
        worker_(options.worker_command),
        repros_(options.repros),
        meter_(options.progress, options.budget_s + options.tune_budget_s, [this] { return budget_.total_s(); }),
        stop_watch_(options.stop, [this] { return budget_.total_s(); }) {}

  Result<TuneReport> run() {
    COLLAGE_TRY_VOID(who_.choose());
    COLLAGE_TRY(prepared_, prepare(prepare_options(), folder_, registry_, worker_));
    COLLAGE_TRY_VOID(who_.rehearse(prepared_));
    COLLAGE_TRY_VOID(who_.gather_rules(prepared_));
    COLLAGE_TRY_VOID(
        check_user_rules(prepared_.graph, uses_of(prepared_.graph), options_.user_rules, who_.proposing()));
    COLLAGE_TRY_VOID(add_rivals(scene_, maker_, contest_, notes_));
    COLLAGE_TRY_VOID(make_covers());
    COLLAGE_TRY_VOID(judge());
    COLLAGE_TRY_VOID(tune_schedules());
    // There is a plan to ship: from now on the end of the budget ends the tune.
    time_limit_.arm(budget_.after(Budget::kStopShare));
    COLLAGE_TRY_VOID(improve_with_context());
    COLLAGE_TRY_VOID(evolve());
    is_cut_ |= options_.stop.stop_requested();
    if (!user_stop_.stop_requested()) course_.save(store_);
    COLLAGE_TRY_VOID(ship());
    report_.interrupted = user_stop_.stop_requested();
    report_.tune_s = budget_.total_s();
    report_.repros = repros_.kept();
    tell_end();
    for (const std::string& note : prepared_.notes) report_.notes.push_back(note);
    for (const std::string& warning : store_.warnings()) report_.notes.push_back(warning);
    if (const std::size_t damaged = store_.set_aside(); damaged > 0)
      report_.notes.push_back(fmt::format("{} damaged records of the store were set aside and not used", damaged));
    return std::move(report_);
  }

 private:
  static TuneOptions limited(TuneOptions options, const TimeLimit& limit) {
    options.stop = limit.token();
    return options;
  }

  PrepareOptions prepare_options() const {
    return {.model = options_.model,
            .shapes = options_.shapes,
            .backends = who_.proposing(),
            .accuracy = options_.accuracy,
            .passes_off = options_.passes_off,
            .seed = options_.seed,
            .input_ranges = options_.input_ranges,
            .progress = progress_};
  }

  /// Why it ends now.
  void tell_end() {
    if (report_.interrupted)
      report_.ended = {.why = Ending::kInterrupted,
                       .stopped_s = stop_watch_.stopped_s(),
                       .phase = stop_watch_.stopped_in(),
                       .not_needed = report_.ended.not_needed,
                       .out_of_time = report_.ended.out_of_time,
                       .not_before_stop = report_.ended.not_before_stop};
    else if (report_.ended.out_of_time > 0 || is_cut_)
      report_.ended.why = Ending::kBudget;
    if (budget_.is_past(Budget::kMostShare) && !report_.interrupted)
      report_.notes.push_back(
          fmt::format("{:.3g} s in place of {:.3g}: the first plans are made and checked in any case",
                      budget_.total_s(), options_.budget_s));
  }

  // ---- covers ----------------------------------------------------------------------------------------------
  Result<void> make_covers() {
    if (prepared_.graph.nodes.empty()) return {};
    const Result<void> filled = priced_.fill();
    const bool is_stopped = !filled && user_stop_.stop_requested();
    const bool is_tied =
        !filled && (filled.error().exit == ExitCode::kLimit || filled.error().code == "tune/nobody-left");
    if (is_stopped || (is_tied && contest_.competing() > 0)) {
      // No cover is small enough or allowed, or there was no time for one, but an engine's plan may be there.
      why_no_covers_ = is_stopped ? what_the_stop_left() : to_string(filled.error());
      notes_.push_back("no mixed plan: " + why_no_covers_);
      if (priced_.has_covers()) count_measured(outcome({}), report_);
      priced_.give_up();
      return {};
    }
    if (!filled) return filled;
    scene_.say("search");
    return add_covers({});
  }

  /// Searches under the costs, corrected by context, and turns the covers that are new into plans.
  Result<void> add_covers(const Corrections& corrections) {
    auto covers = priced_.pricing().search(priced_.request(corrections));
    if (!covers) {
      notes_.push_back("no mixed plan: " +
                       (user_stop_.stop_requested() ? what_the_stop_left() : to_string(covers.error())));
      return {};
    }
    const std::size_t broken = priced_.pricing().broken_count();
    maker_.forget_over_cap();
    bool fits = false;
    if (!course_.has_begun()) begin_course(*covers);
    for (NamedCover& named : *covers) {
      const double share = fits ? Budget::kCoversShare : Budget::kContestShare;
      if (contest_.competing() > 0 && course_.decides(budget_.is_past(share))) {
        is_cut_ = true;
        break;
      }
      if (note_cover(named.result.cover)) fits |= add_cover(std::move(named), corrections);
    }
    // The memory map of the plan has the last word.
    if (!fits && maker_.least_over_cap() && priced_.lower_cap(*maker_.least_over_cap())) return add_covers(corrections);
    // What failed while its plan was made is out; the others' best plans may be new ones without it.
    if (priced_.pricing().broken_count() > broken) return add_covers(corrections);
    return {};
  }

  /// Of a stop that came before every operator had somebody to run it.
  std::string what_the_stop_left() {
    const PriceCounts counts = priced_.has_covers() ? priced_.pricing().counts() : PriceCounts();
    const std::size_t known = counts.measured + counts.reused;
    return known == 0 ? std::string("stopped before any candidate was measured")
                      : fmt::format("stopped when {} candidates were measured, which is not enough for one", known);
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
    COLLAGE_TRY(std::vector<Artifact> artifacts, priced_.artifacts(cover));
    return maker_.make(name, prepared_.graph, cover, std::move(artifacts), false);
  }

  // ---- the guard -------------------------------------------------------------------------------------------
  Result<void> judge() {
    scene_.say("confirm");
    if (contest_.competing() == 0 && maker_.least_over_cap())
      return fail(
          ExitCode::kLimit, kOverMemory, "--memory-cap", bytes_text(options_.objective.memory_cap),
          fmt::format("at least {}, which the most frugal plan found needs", bytes_text(*maker_.least_over_cap())));
    if (contest_.competing() == 0)
      return fail(ExitCode::kUnsupported, "tune/nothing-runs", options_.model, why_nothing_runs(),
                  "at least one plan that runs");
    const double begin_s = budget_.total_s();
    COLLAGE_TRY_VOID(contest_.judge({.question = question(), .guard = guard_options()}));
    judging_s_ = budget_.total_s() - begin_s;
    meter_.know_best(static_cast<double>(contest_.winner().median_ns) / 1000);
    scene_.say("confirm");
    return {};
  }

  std::string why_nothing_runs() const {
    if (!notes_.empty()) return notes_.back();
    return who_.notes().empty() ? "no plan" : who_.notes().back();
  }

  /// Whether another contest, if it takes as long as the last one, ends within the budget.
  bool may_judge_again() {
    if (user_stop_.stop_requested()) return false;
    const bool may =
        course_.decides(!options_.stop.stop_requested() && budget_.elapsed_s() + judging_s_ <= budget_.seconds());
    is_cut_ |= !may;
    return may;
  }

  std::string question() const {
    return machine_print() + "|" + prepared_.imported.model_hash + "|" + scene_.shapes_text() + "|" +
           std::to_string(options_.threads) + passes_text();
  }

  /// "" when all passes run, so that older answers hold.
  std::string passes_text() const {
    std::string text;
    for (const std::string& name : options_.passes_off) text += "|-" + name;
    return text;
  }

  /// With all that decides which candidates there are.
  std::string whole_question() const {
    std::string text = question() + "|" + std::string(name_of(options_.accuracy)) + "|" + std::to_string(options_.seed);
    for (const UserRule& rule : options_.user_rules) text += "|" + rule.text;
    for (const std::string& name : who_.backends()) text += "|" + name + " " + (*registry_.get(name))->info().build;
    return text;
  }

  GuardOptions guard_options() {
    return {.inputs = prepared_.inputs,
            .expected = prepared_.outputs,
            .accuracy = std::string(name_of(options_.accuracy)),
            .threads = options_.threads,
            .heat_seconds = std::min(1.5, 0.02 * budget_.seconds()),
            .final_seconds = std::min(8.0, 0.05 * budget_.seconds()),
            .deadline = budget_.after(Budget::kContestShare),
            .apart = !who_.conflicts().empty(),
            .seed = options_.seed,
            .quiet_ns = priced_.has_covers() ? priced_.pricing().quiet_ns() : 0,
            .stop = options_.stop};
  }

  /// Steps take another time between others than alone. Learns from the covers that were timed, searches again, and
  /// lets new covers compete, which teach in their turn.
  Result<void> improve_with_context() {
    for (int round = 0; round < kContextRounds && priced_.has_covers() && may_judge_again(); ++round) {
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
  /// Kernels that backends can tune become faster; covers with them compete.
  Result<void> tune_schedules() {
    if (!priced_.has_covers() || options_.tune_budget_s <= 0 || options_.stop.stop_requested()) return {};
    scene_.say("schedules");
    const double begin_s = budget_.total_s();
    auto report = collage::tune_schedules(priced_.schedules(), {.seconds = options_.tune_budget_s,
                                                                .question = whole_question(),
                                                                .seed = options_.seed,
                                                                .request = [this] { return priced_.request({}); },
                                                                .bounds = priced_.bounds(),
                                                                .progress = progress_,
                                                                .stop = options_.stop});
    budget_.set_aside(budget_.total_s() - begin_s);
    priced_.pricing().allow_until(budget_.after(Budget::kMeasuringShare));
    if (!report) return std::unexpected(std::move(report).error());
    report_.schedules = *std::move(report);
    if (report_.schedules.tried == 0)
      notes_.emplace_back("the time of --tune-budget was not used: no kernel that counts has settings to try");
    priced_.note_unmeasured();
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
    if (!priced_.has_covers() || !may_judge_again() || options_.objective.ns_per_byte > 0 || !who_.conflicts().empty())
      return {};
    const Uses uses = uses_of(prepared_.graph);
    const Corrections corrections = learn_corrections(prepared_.graph, contest_.timed_covers());
    PairTimer timer(folder_, worker_, packer_, {.guard = guard_options(), .known_ns = contest_.winner().median_ns});
    std::optional<EvolvedPlan> evolved = find_evolved_plan(level2_request(uses, corrections, timer), store_);
    if (!evolved) return {};
    COLLAGE_TRY_VOID(priced_.add_regions_of(evolved->cover, corrections));
    note_cover(evolved->cover);
    attach_bodies(priced_.bodies(), evolved->cover);
    contest_.add({.name = "mixed, evolved",
                  .plan = std::move(evolved->plan),
                  .cover = std::move(evolved->cover),
                  .corrections = corrections});
    COLLAGE_TRY_VOID(judge());
    return improve_with_context();
  }

  Level2Request level2_request(const Uses& uses, const Corrections& corrections, PairTimer& timer) {
    const CoverRequest request = priced_.pricing().completed(priced_.request(corrections));
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
          return plain_variant(registry_, engine, prepared_.graph, region, who_.rules(), scene_.compile());
        }};
    level2.question = whole_question();
    for (const std::string& name : who_.backends())
      if (scene_.is_engine(name)) level2.problem.engines.push_back(name);
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
    level2.seconds = course_.amount(level2_seconds(budget_.seconds(), budget_.elapsed_s() + judging_s_));
    level2.evolve.seed = options_.seed;
    level2.evolve.stop = options_.stop;
    level2.progress = progress_;
    return level2;
  }

  // ---- result ----------------------------------------------------------------------------------------------
  /// What ships also runs on processors with fewer instructions, where backends have kernels for them. This comes after
  /// the budget.
  void widen(Contestant& winner) {
    const auto has_baseline = [&](const PlanBackend& used) {
      const auto backend = registry_.get(used.name);
      return backend && !baseline_instance(**backend).empty();
    };
    if (!priced_.has_covers() || user_stop_.stop_requested() ||
        std::ranges::none_of(winner.plan.plan.backends, has_baseline))
      return;
    scene_.say("widen");
    const double begin_s = budget_.total_s();
    const std::chrono::duration<double> most(std::max(kPortableSeconds, kPortableShare * budget_.seconds()));
    priced_.pricing().make_portable(
        {.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(most), .stop = user_stop_});
    auto wide = [&]() -> Result<Contestant> {
      COLLAGE_TRY(auto artifacts, priced_.remade_artifacts(winner.cover));
      return maker_.make(winner.name, prepared_.graph, winner.cover, std::move(artifacts), false);
    }();
    budget_.set_aside(budget_.total_s() - begin_s);
    for (const std::string& kernel : priced_.pricing().unportable())
      notes_.push_back("runs on no processor with fewer instructions than this one: " + kernel);
    if (!wide) {
      notes_.push_back("runs on no processor with fewer instructions than this one: " + to_string(wide.error()));
      return;
    }
    winner.plan = std::move(wide->plan);
    winner.memory_bytes = wide->memory_bytes;
  }

  Result<void> ship() {
    if (options_.on_prepared) COLLAGE_TRY_VOID(options_.on_prepared(prepared_));
    put_costs_alone(contest_.winner());
    widen(contest_.winner());
    const Alternatives others = alternatives();
    const Outcome ended = outcome(others);
    report_.candidates = priced_.candidate_count();
    report_.schedules.known = priced_.known_schedules();
    fill_report(ended, report_);
    count_unmeasured(ended, report_.ended);
    RealisedPlan plan = std::move(contest_.winner().plan);
    plan.plan.shipped = report_.shipped;
    plan.plan.report_json = plan_report(report_, to_json(explain_cover(explain_inputs(ended, report_))));
    return save_plan(packer_.pack(std::move(plan)), options_.output);
  }

  /// The plan file tells what was measured, whatever the search thought of it in its place.
  void put_costs_alone(Contestant& winner) {
    if (winner.is_rival || !priced_.has_covers()) return;
    winner.cover =
        at_costs_alone(std::move(winner.cover), priced_.pool(), priced_.costs(), priced_.pricing().boundary_table());
    put_costs(winner.cover, winner.plan.plan);
    const std::string onnx = annotated_onnx(prepared_.graph, winner.cover, winner.plan.plan);
    winner.plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  }

  /// Of the plan that ships; `alternatives` outlives it.
  Outcome outcome(const Alternatives& alternatives) {
    Outcome ended{.options = options_,
                  .graph = prepared_.graph,
                  .who = who_,
                  .contest = contest_,
                  .pool = priced_.pool(),
                  .costs = priced_.costs(),
                  .why_unmeasured = priced_.why_unmeasured(),
                  .alternatives = alternatives,
                  .notes = notes_,
                  .rules = priced_.rule_effects(),
                  .proposals = priced_.proposals(),
                  .placer = priced_.placer(),
                  .bounds = priced_.bounds(),
                  .has_bodies = !priced_.bodies().empty()};
    if (!priced_.has_covers()) return ended;
    ended.pricing = &priced_.pricing();
    ended.request = priced_.request({});
    return ended;
  }

  Alternatives alternatives() {
    if (user_stop_.stop_requested()) return {.why_none = "the tune was stopped"};
    if (!priced_.has_covers()) return {.why_none = why_no_covers_};
    return find_alternatives(priced_.pricing().completed(priced_.request({})));
  }

  /// What kernels for the baseline instruction set may take after the budget: the more of these two.
  static constexpr double kPortableShare = 0.25;
  static constexpr double kPortableSeconds = 30;
  static constexpr int kContextRounds = 2;

  Budget budget_;
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
  StopWatch stop_watch_;
  Progress progress_ = [this, tell = meter_.sink()](const ProgressEvent& event) {
    stop_watch_.enter(event.phase);
    tell(event);
  };
  double judging_s_ = 0;  ///< what the last contest took
  bool is_cut_ = false;   ///< the clock left out a contest, or a cover of one
  Prepared prepared_;
  Scene scene_{options_, user_stop_, budget_, registry_, folder_, store_, worker_, repros_, who_, prepared_, progress_};
  ContestantMaker maker_{scene_};
  PricedPool priced_{scene_, maker_.memory()};
  std::vector<std::string> notes_;
  std::vector<std::string> cover_texts_;
  std::string why_no_covers_ = "the graph has no nodes";  ///< holds without covers
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
    return fail(ExitCode::kInterrupted, "tune/interrupted", options.model,
                "a stop before there was any plan: " + report.error().saw, "a tune that goes on until it has one");
  return report;
}

}  // namespace collage
