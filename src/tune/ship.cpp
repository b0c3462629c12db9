#include "tune/ship.h"

#include <algorithm>
#include <span>

#include "backend/extensions/portability_extension.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/make_contestant.h"
#include "tune/explain/explain_inputs.h"
#include "tune/price/costs_alone.h"
#include "tune/tune_result.h"

namespace collage {
namespace {

/// What kernels for the baseline instruction set may take after the budget: the more of these two.
constexpr double kPortableShare = 0.25;
constexpr double kPortableSeconds = 30;

/// The plan file tells what was measured alone, whatever corrections the search applied.
void put_costs_alone(const TuneTask& task, const Priced& priced, Contestant& winner) {
  if (winner.is_rival || !priced.has_covers()) return;
  winner.cover =
      at_costs_alone(std::move(winner.cover), priced.pool.candidates, priced.costs, priced.pricing->boundary_table());
  put_costs(winner.cover, winner.plan.plan);
  const std::string onnx = annotated_onnx(task.graph(), winner.cover, winner.plan.plan);
  winner.plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
}

bool has_baseline(const Plan& plan, Registry& registry) {
  return std::ranges::any_of(plan.backends, [&](const PlanBackend& used) {
    const auto backend = registry.get(used.name);
    return backend && !baseline_instance(**backend).empty();
  });
}

Result<Contestant> portable_plan(const TuneTask& task, const MeasureEnv& env, Priced& priced,
                                 const Contestant& winner) {
  const std::chrono::duration<double> most(std::max(kPortableSeconds, kPortableShare * env.budget.seconds()));
  const ArtifactLimits limits{.stop = env.user_stop,
                              .portable_until = Clock::now() + std::chrono::duration_cast<Clock::duration>(most)};
  COLLAGE_TRY(auto artifacts, priced.placer->artifacts(task.graph(), winner.cover, *priced.pricing, limits));
  COLLAGE_TRY(Contestant made,
              make_contestant(task, env, winner.name, task.graph(), winner.cover, std::move(artifacts)));
  return made;
}

/// What ships also runs on processors with fewer instructions, where backends have kernels for them. This comes after
/// the budget.
void make_portable(const TuneTask& task, MeasureEnv& env, Priced& priced, Contest& contest) {
  constexpr const char* kNote = "runs on no processor with fewer instructions than this one: ";
  Contestant& winner = contest.winner();
  if (!task.options.portable || !priced.has_covers() || env.user_stop.stop_requested() ||
      !has_baseline(winner.plan.plan, env.registry))
    return;
  env.say("widen");
  const double begin_s = env.budget.total_s();
  auto portable = portable_plan(task, env, priced, winner);
  env.budget.set_aside(env.budget.total_s() - begin_s);
  for (const std::string& kernel : priced.pricing->unportable()) contest.notes.push_back(kNote + kernel);
  if (!portable) {
    contest.notes.push_back(kNote + to_string(portable.error()));
    return;
  }
  winner.plan = std::move(portable->plan);
  winner.memory_bytes = portable->memory_bytes;
}

Alternatives alternatives_to(const TuneTask& task, const MeasureEnv& env, const Priced& priced) {
  if (env.user_stop.stop_requested()) return {.why_none = "the tune was stopped"};
  if (!priced.has_covers()) return {.why_none = why_no_covers(priced, env)};
  return find_alternatives(priced.pricing->completed(cover_request(task, priced, {})));
}

}  // namespace

Result<Shipped> ship(const TuneTask& task, MeasureEnv& env, const ScheduleReport& schedules, Priced& priced,
                     Contest& contest) {
  put_costs_alone(task, priced, contest.winner());
  make_portable(task, env, priced, contest);
  note_unmeasured(env, priced);
  const Alternatives others = alternatives_to(task, env, priced);
  const TuneResult result{.task = task, .priced = priced, .contest = contest, .alternatives = others};
  const CoverBounds bounds = cover_bounds(result);
  Shipped shipped{.plan = std::move(contest.winner().plan), .report = {}};
  shipped.report = report_on(result, bounds, shipped.plan.plan);
  if (contest.is_cut || shipped.report.ended.out_of_time > 0) shipped.report.ended.why = Ending::kBudget;
  shipped.report.schedules = schedules;
  shipped.report.schedules.known = priced.known_schedules;
  shipped.plan.plan.shipped = shipped.report.shipped;
  shipped.plan.plan.report = plan_report(shipped.report, explain_cover(explain_inputs(result, bounds)));
  return shipped;
}

}  // namespace collage
