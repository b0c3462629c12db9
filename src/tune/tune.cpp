#include "tune/tune.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "export/exportable.h"
#include "plan/file/plan_file.h"
#include "plan/file/plan_json.h"
#include "tune/confirm/enter_covers.h"
#include "tune/confirm/guard.h"
#include "tune/confirm/hold_contest.h"
#include "tune/confirm/improve.h"
#include "tune/confirm/narrow_trial.h"
#include "tune/confirm/output_check.h"
#include "tune/confirm/rivals.h"
#include "tune/participants.h"
#include "tune/pool.h"
#include "tune/price/cover_artifacts.h"
#include "tune/price/engine_times.h"
#include "tune/price/priced.h"
#include "tune/price/priced_text.h"
#include "tune/replay.h"
#include "tune/report/stop_watch.h"
#include "tune/ship.h"
#include "tune/time_limit.h"
#include "tune/tune_result.h"

namespace collage {
namespace {

/// Without covers an engine's plan may ship all the same: after a stop, or when no cover is small enough or allowed.
Result<void> enter_first_covers(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  if (!priced.pricing) return {};  // a graph without nodes, or no time to propose
  if (priced.has_covers()) {
    env.say("search");
    enter_covers(task, env, "covers", {}, priced, contest);
    return {};
  }
  const Error& error = *priced.no_covers;
  if (task.options.for_library) return std::unexpected(error);
  const bool is_tied = error.exit == ExitCode::kLimit || error.code == "tune/nobody-left";
  if (!env.user_stop.stop_requested() && (!is_tied || contest.competing.empty())) return std::unexpected(error);
  contest.notes.push_back("no mixed plan: " + why_no_covers(priced, env));
  return {};
}

/// That run the whole model, each once.
std::vector<std::string> engines_that_run(const Contest& contest) {
  std::set<std::string> engines;
  for (const Contestant& one : contest.competing)
    if (one.is_rival && one.failure.empty()) engines.insert(one.cover.steps.front().backend);
  return {engines.begin(), engines.end()};
}

/// What ships is the best engine's plan.
Priced too_late_for_covers(const MeasureEnv& env, Contest& contest) {
  Error why{.code = kNoTimeForPlan, .saw = "the budget ended while the engines ran the model"};
  contest.is_cut = true;
  contest.notes.push_back("no mixed plan: " + why.saw);
  return without_covers(std::move(why), env);
}

/// What backends propose, and what is known of its costs.
Result<Priced> propose(const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  if (contest.is_over) return too_late_for_covers(env, contest);
  const TuneOptions& options = task.options;
  COLLAGE_TRY(Pool pool, propose_pool(task, env));
  std::ranges::move(notes_on_missing(pool.candidates), std::back_inserter(contest.notes));
  pool = without_large_steps(std::move(pool), task, engines_that_run(contest));
  pool.candidates = ablated(std::move(pool.candidates), task.graph(), task.who.backends, options.ablations);
  if (options.ablations.any())
    contest.notes.push_back("an ablation: left out " + to_text(options.ablations) + "; engines are only timed");
  env.dump.keep("pool", [&] { return to_text(task.graph(), pool.candidates); });
  return open_pricing(task, std::move(pool), env);
}

/// Of the faster of each engine's plans. None where a plan failed: the store keeps no verdict then, and the same tune,
/// asked for again, would know other times.
EngineTimes times_of_engines(const Contest& contest) {
  EngineTimes times;
  for (const Contestant& one : contest.competing) {
    if (!one.failure.empty()) return {};
    if (!one.is_rival || one.median_ns == 0) continue;
    const auto [time, is_new] = times.try_emplace(one.cover.steps.front().backend, one.median_ns);
    if (!is_new) time->second = std::min(time->second, one.median_ns);
  }
  return times;
}

/// That costs are not measured is said where the user wanted it so.
void note_estimates(const TuneTask& task, const Priced& priced, Contest& contest) {
  if (!task.options.estimates.stand_for_costs()) return;
  const auto count = std::ranges::count_if(
      priced.costs, [](const Cost& cost) { return std::holds_alternative<Estimated>(cost) && !is_sampled(cost); });
  contest.notes.push_back(fmt::format("{} of {} candidates have estimated costs", count, priced.costs.size()));
}

/// What no cover takes less than, for whoever watches.
void tell_bound(const TuneTask& task, const MeasureEnv& env, const Priced& priced) {
  if (!priced.has_covers() || !priced.bounds || !task.options.progress || env.out_of_time()) return;
  const auto bound = priced.pricing->proven_bound(cover_request(task, priced, {}), *priced.bounds);
  if (bound) env.meter.know_bound(static_cast<double>(*bound) / 1000);
}

/// What is done with the time that is left once a plan has won.
Result<ScheduleReport> improve(const TuneTask& task, MeasureEnv& env, TimeLimit& time_limit, Priced& priced,
                               Contest& contest) {
  ScheduleReport schedules;
  if (priced.has_covers()) {
    COLLAGE_TRY(schedules, improve_schedules(task, env, priced, contest));
    if (task.options.tune_budget_s > 0) tell_bound(task, env, priced);  // new schedules are new candidates
  }
  // There is a plan to ship: from now on the end of the budget ends the tune.
  time_limit.arm(env.budget.after(Budget::kStopShare));
  if (!priced.has_covers()) return schedules;
  const Ablations& without = task.options.ablations;
  if (!without.improves()) return schedules;
  if (!without.correction) COLLAGE_TRY_VOID(improve_with_context(task, env, "context", priced, contest));
  if (!without.evolution) COLLAGE_TRY_VOID(evolve_covers(task, env, priced, contest));
  return schedules;
}

/// The stages of a tune, each a value made from the one before.
Result<Shipped> run_stages(const TuneOptions& options, MeasureEnv& env, TimeLimit& time_limit) {
  COLLAGE_TRY(Participants chosen, choose_participants(options, env));
  const PrepareOptions prepare_options = collage::prepare_options(options, chosen.proposing, env.progress);
  COLLAGE_TRY(ImportedModel imported, import_model(prepare_options, env.folder, env.registry, env.worker));
  EngineCompiler compiler = compile_ahead(options, chosen, imported, env);
  COLLAGE_TRY(const Prepared prepared, record_model(prepare_options, std::move(imported), env.folder, env.worker));
  COLLAGE_TRY(const Participants who, rehearsed(std::move(chosen), prepared, options, env));
  const TuneTask task{.options = options, .prepared = prepared, .who = who};
  env.dump.keep("prepared", [&] { return to_text(prepared.graph); });

  COLLAGE_TRY(Contest contest, open_contest(task, env, std::move(compiler)));
  COLLAGE_TRY_VOID(judge_engines(task, env, contest));
  enter_on_simplified(task, env, contest);
  COLLAGE_TRY(Priced priced, propose(task, env, contest));
  try_narrow(task, env, priced, contest);
  if (!options.measures_all)
    take_engine_times(task.graph(), priced.pool.candidates, times_of_engines(contest), priced.costs);
  price(task, env, priced);
  env.dump.keep("priced", [&] { return priced_text(task, env.registry, priced.pool.candidates, priced.costs); });
  note_estimates(task, priced, contest);
  COLLAGE_TRY_VOID(enter_first_covers(task, env, priced, contest));
  tell_bound(task, env, priced);
  COLLAGE_TRY_VOID(judge_covers(task, env, priced.quiet_ns(), contest));
  COLLAGE_TRY(const ScheduleReport schedules, improve(task, env, time_limit, priced, contest));

  env.dump.keep("contest", [&] { return to_text(contest); });

  explain_precision(task, env, priced, contest);
  contest.is_cut |= env.stop.stop_requested();
  if (!env.user_stop.stop_requested()) env.deadlines.save(env.store);
  if (options.on_prepared) COLLAGE_TRY_VOID(options.on_prepared(prepared));
  COLLAGE_TRY(Shipped shipped, ship(task, env, schedules, priced, contest));
  if (options.for_library) {
    const BackendSource backends = [&](const std::string& name) { return env.registry.get(name); };
    COLLAGE_TRY_VOID(check_exportable(shipped.plan.plan, backends, options.output));
  }
  env.dump.keep("shipped", [&] { return to_json(shipped.plan.plan); });
  shipped.report.notes.insert(shipped.report.notes.end(), prepared.notes.begin(), prepared.notes.end());
  return shipped;
}

/// Why it ends now, and what the environment has to tell.
void tell_end(const MeasureEnv& env, StopWatch& stop_watch, TuneReport& report) {
  report.interrupted = env.user_stop.stop_requested();
  report.tune_s = env.budget.total_s();
  report.repros = env.repros.kept();
  report.stage = env.dump.text();
  if (report.interrupted) {
    report.ended.why = Ending::kInterrupted;
    report.ended.stopped_s = stop_watch.stopped_s();
    report.ended.phase = stop_watch.stopped_in();
  } else if (env.budget.is_past(Budget::kMostShare)) {
    report.notes.push_back(fmt::format("{:.3g} s in place of {:.3g}: the first plans are made and checked in any case",
                                       env.budget.total_s(), env.budget.seconds()));
  }
  for (const std::string& warning : env.store.warnings()) report.notes.push_back(warning);
  if (const std::size_t damaged = env.store.set_aside(); damaged > 0)
    report.notes.push_back(fmt::format("{} damaged records of the store were set aside and not used", damaged));
}

Result<TuneReport> tune_model(const TuneOptions& options, Registry& registry) {
  COLLAGE_TRY_VOID(check_can_save(options.output));
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  COLLAGE_TRY(Store store, Store::open(options.store));
  Budget budget(options.budget_s);
  TimeLimit time_limit(options.stop);
  WorkerProcess worker(options.worker_command);
  ReproKeeper repros(options.repros);
  PlanPacker packer(registry, folder);
  DeadlineLog deadlines;
  StageDump dump(options.dump);
  const auto elapsed_s = [&budget] { return budget.total_s(); };
  ProgressMeter meter(options.progress, options.budget_s + options.tune_budget_s, elapsed_s);
  StopWatch stop_watch(options.stop, elapsed_s);
  const Progress progress = [&stop_watch, tell = meter.sink()](const ProgressEvent& event) {
    stop_watch.enter(event.phase);
    tell(event);
  };
  MeasureEnv env{.registry = registry,
                 .folder = folder,
                 .store = store,
                 .worker = worker,
                 .repros = repros,
                 .packer = packer,
                 .budget = budget,
                 .deadlines = deadlines,
                 .meter = meter,
                 .progress = progress,
                 .dump = dump,
                 .user_stop = options.stop,
                 .stop = time_limit.token()};
  COLLAGE_TRY(Shipped shipped, run_stages(options, env, time_limit));
  COLLAGE_TRY_VOID(save_plan(packer.pack(std::move(shipped.plan)), options.output));
  tell_end(env, stop_watch, shipped.report);
  return std::move(shipped.report);
}

}  // namespace

Result<TuneReport> tune(const TuneOptions& options, Registry& registry) {
  if (!options.replay.empty()) return replay(options, registry);
  auto report = tune_model(options, registry);
  // A stop that came before there was any plan to ship.
  if (!report && report.error().code == kNothingRuns && options.stop.stop_requested())
    return fail(ExitCode::kInterrupted, "tune/interrupted", options.name_of_model(),
                "a stop before there was any plan: " + report.error().saw, "a tune that goes on until it has one");
  return report;
}

}  // namespace collage
