#include "tune/confirm/improve.h"

#include <algorithm>

#include <fmt/format.h>

#include "tune/confirm/enter_covers.h"
#include "tune/confirm/hold_contest.h"
#include "tune/confirm/level2.h"
#include "tune/confirm/output_check.h"
#include "tune/schedules/schedule_stage.h"

namespace collage {
namespace {

constexpr int kContextRounds = 2;

/// Of which engines level 2 may take regions, and how.
Level2Problem evolve_problem(const TuneTask& task, const MeasureEnv& env, const Uses& uses,
                             const CoverRequest& request) {
  Level2Problem problem = {
      .graph = &task.graph(),
      .uses = &uses,
      .candidates = usable_candidates(request),
      .conversions = request.conversions,
      .search = request.search,
      .engines = {},
      .backends = task.who.backends,
      .take = [&task, &env, &uses](const std::string& engine, const Region& region) -> std::expected<Variant, Refusal> {
        if (!allows(task.graph(), uses, task.options.user_rules, region.nodes, engine))
          return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = "a rule"});
        return plain_variant(env.registry, engine, task.graph(), region, task.who.rules, task.options.compile());
      }};
  for (const std::string& name : task.who.backends)
    if (env.is_engine(name)) problem.engines.push_back(name);
  return problem;
}

/// Plans over the simplified graph.
std::vector<const Contestant*> timed_plans(const Contest& contest) {
  std::vector<const Contestant*> timed = contest.losers();
  timed.push_back(&contest.winner());
  std::erase_if(timed, [](const Contestant* one) { return one->is_rival && !one->name.ends_with(kOnSimplified); });
  return timed;
}

std::optional<EvolvedPlan> evolved_plan(const TuneTask& task, const MeasureEnv& env, const Corrections& corrections,
                                        Priced& priced, Contest& contest) {
  const Uses uses = uses_of(task.graph());
  const Contestant& best = contest.winner();
  const GuardOptions guard = guard_options(task, env, priced.pricing->quiet_ns());
  PairTimer timer(env.folder, env.worker, env.packer, {.guard = guard, .known_ns = best.median_ns});
  Level2Request level2;
  level2.problem = evolve_problem(task, env, uses, priced.pricing->completed(cover_request(task, priced, corrections)));
  level2.question = tune_question(task, env.registry);
  level2.timed = timed_plans(contest);
  level2.best_ns = best.median_ns;
  level2.realise = [&](const Cover& cover) -> Result<RealisedPlan> {
    COLLAGE_TRY(Contestant made, contestant_of(task, env, "evolved", cover, {.stop = env.stop}, priced, contest));
    return std::move(made.plan);
  };
  level2.time = [&](const RealisedPlan& plan) { return timer.time(plan, best.plan); };
  level2.seconds = env.deadlines.amount(
      "evolve", "seconds", level2_seconds(env.budget.seconds(), env.budget.elapsed_s() + contest.last.seconds));
  level2.evolve.seed = task.options.seed;
  level2.evolve.stop = env.stop;
  level2.progress = env.progress;
  return find_evolved_plan(level2, env.store);
}

}  // namespace

Result<ScheduleReport> improve_schedules(const TuneTask& task, MeasureEnv& env, Priced& priced, Contest& contest) {
  if (task.options.tune_budget_s <= 0 || env.stop.stop_requested()) return ScheduleReport();
  env.say("schedules");
  const double begin_s = env.budget.total_s();
  auto report =
      tune_schedules(schedule_context(task, env, priced), {.seconds = task.options.tune_budget_s,
                                                           .question = tune_question(task, env.registry),
                                                           .seed = task.options.seed,
                                                           .request = [&] { return cover_request(task, priced, {}); },
                                                           .bounds = &*priced.bounds,
                                                           .progress = env.progress,
                                                           .stop = env.stop});
  env.budget.set_aside(env.budget.total_s() - begin_s);
  if (!report) return report;
  if (report->tried == 0)
    contest.notes.emplace_back("the time of --tune-budget was not used: no kernel that counts has settings to try");
  note_unmeasured(env, priced);
  if (report->after_ns >= report->before_ns) return report;
  const std::size_t before = contest.competing.size();
  enter_covers(task, env, "schedules", {}, priced, contest);
  if (contest.competing.size() > before) COLLAGE_TRY_VOID(judge(task, env, priced.pricing->quiet_ns(), contest));
  return report;
}

Result<void> improve_with_context(const TuneTask& task, const MeasureEnv& env, const std::string& stage, Priced& priced,
                                  Contest& contest) {
  for (int round = 1; round <= kContextRounds; ++round) {
    const std::string name = fmt::format("{}, round {}", stage, round);
    if (!may_judge_again(env, name, contest)) return {};
    const Corrections corrections = learn_corrections(task.graph(), contest.timed_covers());
    contest.retire_beaten();
    const std::size_t before = contest.competing.size();
    enter_covers(task, env, name, corrections, priced, contest);
    if (contest.competing.size() == before) return {};
    COLLAGE_TRY_VOID(judge(task, env, priced.pricing->quiet_ns(), contest));
  }
  return {};
}

Result<void> evolve_covers(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  if (!may_judge_again(env, "evolve", contest)) return {};
  // Level 2 knows time alone, and one process.
  if (task.options.objective.ns_per_byte > 0 || !task.who.conflicts.empty()) return {};
  const Corrections corrections = learn_corrections(task.graph(), contest.timed_covers());
  std::optional<EvolvedPlan> evolved = evolved_plan(task, env, corrections, priced, contest);
  if (!evolved) return {};
  const bool is_late = env.deadlines.decides("evolve", "no time to measure", env.budget.is_past(Budget::kPricingShare));
  const MeasureLimits limits = is_late ? without_time(env.limits()) : env.limits();
  COLLAGE_TRY_VOID(add_engine_regions(task, corrections, limits, evolved->cover, priced));
  (void)contest.note_cover(task.graph(), evolved->cover);
  attach_bodies(priced.bodies, evolved->cover);
  Contestant made{.name = "mixed, evolved",
                  .plan = std::move(evolved->plan),
                  .cover = std::move(evolved->cover),
                  .corrections = corrections};
  if (!is_inside(task, env, made, contest)) return {};
  contest.add(std::move(made));
  COLLAGE_TRY_VOID(judge(task, env, priced.pricing->quiet_ns(), contest));
  if (task.options.ablations.correction) return {};
  return improve_with_context(task, env, "evolved context", priced, contest);
}

}  // namespace collage
