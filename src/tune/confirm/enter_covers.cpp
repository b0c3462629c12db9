#include "tune/confirm/enter_covers.h"

#include <algorithm>

#include <fmt/format.h>

#include "search/problem.h"
#include "tune/confirm/contest_time.h"
#include "tune/confirm/make_contestant.h"
#include "tune/confirm/output_check.h"
#include "tune/price/hoped_gains.h"
#include "tune/price/quick_cover.h"

namespace collage {
namespace {

/// What the first covers cost tells whether the same tune was there before.
void begin_log(const TuneTask& task, const MeasureEnv& env, const Covers& covers) {
  const Objective& objective = task.options.objective;
  std::string question =
      fmt::format("{}|{}|{}", tune_question(task, env.registry), objective.memory_cap, objective.ns_per_byte);
  for (const NamedCover& named : covers.covers) question += named.name + to_text(task.graph(), named.result.cover);
  env.deadlines.begin(env.store, question, task.options.budget_s);
}

/// Where an engine's plan can ship, no cover may take the time of the contest; the first one may take some of it,
/// because without a cover there is nothing to decide.
ArtifactLimits limits_of_covers(const MeasureEnv& env, const Contest& contest) {
  ArtifactLimits limits{.stop = env.stop};
  if (!contest.has_plan()) return limits;
  limits.latest = env.budget.after(Budget::kCoversShare);
  const bool is_first = std::ranges::all_of(contest.competing, &Contestant::is_rival);
  const Seconds contest_s(shortest_contest_s(contest.last.seconds));
  if (is_first)
    limits.latest =
        std::max(limits.latest, env.budget.after(1) - std::chrono::duration_cast<Clock::duration>(contest_s));
  return limits;
}

/// A cover that costs this many times as much as the best one is not timed: what costs do not tell is less.
constexpr double kHopeless = 1.25;

/// False when there is no such plan.
bool add_cover(const TuneTask& task, const MeasureEnv& env, const std::string& stage, NamedCover named, bool is_best,
               const Corrections& corrections, Priced& priced, Contest& contest) {
  const std::string suffix = corrections.empty() ? "" : ", corrected";
  auto made = contestant_of(task, env, named.name + suffix, named.result.cover, limits_of_covers(env, contest), priced,
                            contest);
  const bool has_time = made || made.error().code != kNoTimeForPlan;
  if (env.deadlines.decides(stage, named.name + ", made too late", !has_time)) {
    contest.is_cut = true;
    return false;
  }
  if (!made) {
    contest.notes.push_back("plan \"" + named.name + "\" left out: " + to_string(made.error()));
    return false;
  }
  if (!is_inside(task, env, *made, contest)) {
    // The next search has fewer narrow steps. What did not run has no share.
    if (is_best && !made->share.has_reserve()) limit_nodes(task, env, *made, priced, contest);
    return false;
  }
  named.result.cover = made->cover;
  made->search = std::move(named.result);
  made->corrections = corrections;
  contest.add(std::move(*made));
  return true;
}

/// Whether the contest ends in time with one more plan, as far as the last one tells.
bool has_time_for_one_more(const MeasureEnv& env, const Contest& contest) {
  if (contest.last.plans == 0) return true;
  const double rounds_s = contest.last.next_s(contest.competing.size() + 1);
  const double end_s = env.budget.elapsed_s() + rounds_s + contest.files_s_with_one_more();
  return end_s <= Budget::kContestShare * env.budget.seconds();
}

/// Whether one of the covers that are new keeps to the memory cap.
bool add_covers(const TuneTask& task, const MeasureEnv& env, const std::string& stage, const Covers& covers,
                Priced& priced, Contest& contest) {
  bool fits = false;
  for (const NamedCover& named : covers.covers) {
    const bool is_best = &named == &covers.covers.front();
    const bool is_late =
        Clock::now() > limits_of_covers(env, contest).latest || (fits && !has_time_for_one_more(env, contest));
    if (contest.has_plan() && env.deadlines.decides(stage, named.name, is_late)) {
      contest.is_cut = true;
      break;
    }
    const auto best_ns = static_cast<double>(covers.covers.front().result.cover.cost_ns);
    if (static_cast<double>(named.result.cover.cost_ns) > kHopeless * best_ns) continue;
    const int times_outside = priced.times_outside;
    if (contest.note_cover(task.graph(), named.result.cover))
      fits |= add_cover(task, env, stage, named, is_best, covers.corrections, priced, contest);
    if (priced.times_outside != times_outside) break;  // the next search knows more
  }
  return fits;
}

std::string to_text(const Graph& graph, const std::vector<NamedCover>& covers) {
  std::string text;
  for (const NamedCover& named : covers) text += named.name + "\n" + collage::to_text(graph, named.result.cover) + "\n";
  return text;
}

}  // namespace

Result<Covers> choose_covers(const TuneTask& task, const MeasureEnv& env, Corrections corrections, bool best_alone,
                             const Priced& priced) {
  CoverRequest request = cover_request(task, priced, corrections);
  request.best_alone = best_alone;
  if (best_alone) request.search.max_states = std::min(request.search.max_states, kMostTrialStates);
  COLLAGE_TRY(std::vector<NamedCover> covers, priced.pricing->search(std::move(request), env.limits()));
  env.dump.keep("covers", [&] { return to_text(task.graph(), covers); });
  return Covers{.covers = std::move(covers), .corrections = std::move(corrections)};
}

void enter_covers(const TuneTask& task, const MeasureEnv& env, const std::string& stage, const Corrections& corrections,
                  Priced& priced, Contest& contest) {
  // Where plans may leave the bound on the outputs, others are chosen only when the best one's plan is known to be
  // inside.
  bool is_best_settled = !has_narrow_candidate(priced.pool.candidates);
  for (int search = 1;; ++search) {
    const std::string here = fmt::format("{}, search {}", stage, search);
    const bool is_late = env.budget.is_late_for_covers();
    // Nothing is recalled before the first covers are known; when pricing ended is.
    const bool was_late = priced.record ? priced.record->pricing.is_very_late : is_late;
    const bool is_too_late_for_others =
        env.deadlines.has_begun() ? env.deadlines.decides(here, "the best alone", is_late) : was_late;
    const bool best_alone = is_too_late_for_others || !is_best_settled;
    auto covers = choose_covers(task, env, corrections, best_alone, priced);
    const bool lacks_nodes = !covers && covers.error().code == kUncoverable && !env.user_stop.stop_requested();
    if (lacks_nodes && forecast_where_nobody_runs(task, env, priced))
      covers = choose_covers(task, env, corrections, best_alone, priced);
    if (!covers) {
      contest.notes.push_back("no mixed plan: " + (env.user_stop.stop_requested() ? what_the_stop_left(priced)
                                                                                  : to_string(covers.error())));
      return;
    }
    const std::size_t broken = priced.pricing->broken_count();
    const int times_outside = priced.times_outside;
    contest.least_over_cap.reset();
    if (!env.deadlines.has_begun()) begin_log(task, env, *covers);
    const bool fits = add_covers(task, env, here, *covers, priced, contest);
    // The memory map of the plan has the last word.
    const bool is_lower = !fits && contest.least_over_cap &&
                          lower_cap(*contest.least_over_cap, task.options.objective.memory_cap, priced);
    // What failed while its plan was made is out, and so are narrow steps that erred too much; the others' best plans
    // may be new ones without them.
    if (is_lower || priced.pricing->broken_count() != broken || priced.times_outside != times_outside) continue;
    if (is_too_late_for_others || is_best_settled) return;
    is_best_settled = true;
  }
}

Result<Contestant> contestant_of(const TuneTask& task, const MeasureEnv& env, const std::string& name, Cover cover,
                                 const ArtifactLimits& limits, Priced& priced, Contest& contest) {
  COLLAGE_TRY(std::vector<Artifact> artifacts, make_artifacts(priced, cover, limits));
  COLLAGE_TRY(Contestant made, make_contestant(task, env, name, task.graph(), cover, std::move(artifacts)));
  COLLAGE_TRY_VOID(check_cap(made, task.options.objective, contest));
  return made;
}

std::string what_the_stop_left(const Priced& priced) {
  const PriceCounts counts = priced.pricing ? priced.pricing->counts() : PriceCounts();
  const std::size_t known = counts.measured + counts.reused;
  return known == 0 ? std::string("stopped before any candidate was measured")
                    : fmt::format("stopped when {} candidates were measured, which is not enough for one", known);
}

}  // namespace collage
