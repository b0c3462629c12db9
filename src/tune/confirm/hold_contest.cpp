#include "tune/confirm/hold_contest.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/hash.h"
#include "plan/only_to_run.h"
#include "tune/confirm/make_contestant.h"
#include "tune/confirm/rivals.h"
#include "tune/objective.h"
#include "tune/too_late.h"

namespace collage {
namespace {

/// Of rounds between the engines alone.
constexpr double kFirstSeconds = 0.3;
/// What reading proposals and searching takes with a large model.
constexpr double kProposingSeconds = 1;
/// A plan is written now and at the end. Large files, which wait for the disk, take up to twice as long as the rate of
/// plans that are only timed tells.
constexpr double kWritings = 4;
/// What writing less takes is not told by its bytes.
constexpr double kBytesThatTell = 1 << 20;

/// What a plan's time depends on: its steps and artifacts, not the costs written beside them.
std::string question_of(const Contestant& contestant) {
  std::string text = "|" + contestant.name;
  if (contestant.extra_ns != 0) text += fmt::format("+{}", contestant.extra_ns);
  if (!contestant.may_ship) text += "(only timed)";
  for (const PlanStep& step : contestant.plan.plan.steps) {
    const StepArtifact* const artifact = artifact_of(step);
    text += step.backend + step.variant + (artifact == nullptr ? "" : artifact->hash) + ";";
  }
  for (const PlanBackend& backend : contestant.plan.plan.backends) text += backend.name + backend.build + ";";
  return text;
}

/// For a user who asked to stop: the fewest rounds that tell which plans give the right numbers and which is best.
GuardOptions hurried(GuardOptions options) {
  options.heat_seconds = options.final_seconds = 0;
  options.heat_rounds = 1;
  options.final_rounds = 3;
  options.stop = {};
  return options;
}

/// In an earlier contest, or in the check of a plan with 16 bits (output_check.h).
bool was_right(const Contestant& contestant) {
  return contestant.median_ns > 0 || (contestant.share.largest > 0 && contestant.share.largest <= 1);
}

Result<std::vector<PlanToJudge>> write_plans(const MeasureEnv& env, Contest& contest) {
  std::vector<PlanToJudge> plans;
  for (Contestant& contestant : contest.competing) {
    COLLAGE_TRY_VOID(write_plan_file(env, contestant, contest));
    plans.push_back({.timed = {.name = contestant.name, .file = contestant.file, .is_right = was_right(contestant)},
                     .steps = step_count(contestant.plan.plan),
                     .extra_ns = contestant.extra_ns,
                     .may_win = contestant.may_ship});
  }
  return plans;
}

struct Judged {
  GuardVerdict verdict;
  bool is_recalled = false;
};

/// From the store, else from rounds.
Result<Judged> verdict_on(const GuardOptions& guard, std::string question, const MeasureEnv& env, Contest& contest) {
  for (const Contestant& contestant : contest.competing) question += question_of(contestant);
  const std::string key = "guard|" + hash_hex(question);
  if (const auto stored = env.store.verdict(key))
    if (auto verdict = guard_verdict_from(*stored); verdict && verdict->median_ns.size() == contest.competing.size())
      return Judged{.verdict = *std::move(verdict), .is_recalled = true};
  const double begin_s = env.budget.total_s();
  COLLAGE_TRY(const std::vector<PlanToJudge> plans, write_plans(env, contest));
  auto judged = judge(plans, guard, env.worker);
  if (!judged && guard.stop.stop_requested()) judged = judge(plans, hurried(guard), env.worker);
  if (!judged) return std::unexpected(std::move(judged).error());
  judged->seconds = env.budget.total_s() - begin_s;
  judged->write_s_per_byte = contest.write_s_per_byte;
  const bool all_ran =
      std::ranges::all_of(judged->failures, [](const std::string& failure) { return failure.empty(); });
  if (all_ran && !guard.stop.stop_requested()) env.store.put_verdict(key, to_json(*judged));
  return Judged{.verdict = *std::move(judged)};
}

void take_verdict(GuardVerdict verdict, Contest& contest) {
  for (std::size_t c = 0; c < contest.competing.size(); ++c) {
    Contestant& contestant = contest.competing[c];
    contestant.median_ns = verdict.median_ns[c];
    contestant.step_ns = std::move(verdict.step_ns[c]);
    contestant.failure = std::move(verdict.failures[c]);
    contestant.verdict = verdict.against[c];
    contestant.ratio = verdict.ratios[c];
  }
  contest.winner_index = verdict.winner;
}

/// Whatever ends the tune from now on, this plan is there. Where it cannot be written the tune goes on: what ships is
/// written at the end, which is an error if it fails.
void save_winner(const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  const Contestant& winner = contest.winner();
  if (!winner.may_ship || winner.name == contest.saved) return;
  if (const auto saved = save_plan(env.packer.pack(winner.plan), task.options.output); !saved)
    contest.notes.push_back("a plan that was good until then was not written: " + to_string(saved.error()));
  else
    contest.saved = winner.name;
}

/// Engines alone have taken the budget, as they do with large models and short budgets: nothing could be measured of
/// what backends would propose, and writing the best engine's plan now and once more at the end takes too long.
bool leaves_time_for_nothing(const TuneTask& task, const MeasureEnv& env, const Contest& contest) {
  const Contestant& winner = contest.winner();
  if (task.options.measures_all || !winner.is_rival || !winner.may_ship) return false;
  const double after_s = kProposingSeconds + kWritings * contest.writing_s(winner.plan);
  return is_too_late("covers", env.budget.most_s() - after_s, task, env);
}

/// How many times faster the winner is, paired by round where there were enough rounds.
Ratio times_faster(const Contestant& winner, const Contestant& other) {
  if (&other == &winner) return {};
  if (other.ratio) return *other.ratio;
  const double medians = static_cast<double>(other.median_ns) / static_cast<double>(winner.median_ns);
  return {.ratio = medians, .low = medians, .high = medians};
}

void tell_best(const MeasureEnv& env, const Contest& contest) {
  const Contestant& winner = contest.winner();
  std::vector<const Contestant*> all = contest.losers();
  all.push_back(&winner);
  std::erase_if(all, [](const Contestant* one) { return !one->is_rival || one->median_ns == 0; });
  const double us = static_cast<double>(winner.median_ns) / 1000;
  if (all.empty()) return env.meter.know_best(us);
  const auto ratio = [&](const Contestant* one) { return times_faster(winner, *one).ratio; };
  const Contestant& hardest = **std::ranges::min_element(all, {}, ratio);
  env.meter.know_best(us, hardest.name, ratio(&hardest) * us);
}

/// Asks, and puts what was said into the contest.
Result<void> hold_once(GuardOptions guard, std::string question, const TuneTask& task, const MeasureEnv& env,
                       Contest& contest) {
  env.say("confirm");
  guard.has_heat = std::ranges::any_of(contest.competing, &Contestant::is_rival);
  const std::size_t best_before = contest.winner_index;
  COLLAGE_TRY(Judged judged, verdict_on(guard, std::move(question), env, contest));
  // Of a contest that the store knew, too: the next one may have to be held.
  contest.last = {.seconds = judged.verdict.seconds, .plans = contest.competing.size(), .had_final = guard.has_final};
  contest.write_s_per_byte = std::max(contest.write_s_per_byte, judged.verdict.write_s_per_byte);
  take_verdict(std::move(judged.verdict), contest);
  contest.scale_retired(times_faster(contest.winner(), contest.competing[best_before]));
  // What the store knew comes at once: after the first plan there is little that would have to be safe.
  contest.is_over = contest.saved.empty() && leaves_time_for_nothing(task, env, contest);
  if (!contest.is_over && (!judged.is_recalled || contest.saved.empty())) save_winner(task, env, contest);
  contest.curve.push_back(
      {.seconds = env.budget.total_s(), .us = static_cast<double>(contest.winner().median_ns) / 1000});
  tell_best(env, contest);
  env.say("confirm");
  return {};
}

/// The next contest is shorter without those that are far behind.
void retire_engines(Contest& contest) {
  contest.retire_far_behind();
  const std::size_t kept = contest.competing.size();
  contest.last.seconds = contest.last.next_s(kept);
  contest.last.plans = kept;
}

/// Where the plan that beat engines turns out not to work, they compete once more.
Result<void> hold(const GuardOptions& guard, const std::string& question, const TuneTask& task, const MeasureEnv& env,
                  Contest& contest) {
  const std::size_t best_before = contest.winner_index;
  auto held = hold_once(guard, question, task, env, contest);
  const bool has_failed = held ? !contest.competing[best_before].failure.empty() : held.error().code == kNothingRuns;
  if (has_failed && contest.recall_engines()) held = hold_once(guard, question, task, env, contest);
  if (held && guard.has_final) retire_engines(contest);
  return held;
}

/// With nobody new it would be the last contest once more, with more rounds, and end after the budget.
bool repeats_too_late(const MeasureEnv& env, const Contest& contest) {
  const bool has_new = contest.competing.size() > contest.last.plans;
  return !has_new && env.budget.elapsed_s() + shortest_contest_s(contest.last.seconds) > env.budget.seconds();
}

std::string why_nothing_runs(const Contest& contest, const Participants& who) {
  if (!contest.notes.empty()) return contest.notes.back();
  return who.notes.empty() ? "no plan" : who.notes.back();
}

Error nothing_runs(const TuneTask& task, const Contest& contest) {
  if (contest.least_over_cap)
    return {.code = kOverMemory,
            .where = "--memory-cap",
            .saw = bytes_text(task.options.objective.memory_cap),
            .allowed =
                fmt::format("at least {}, which the most frugal plan found needs", bytes_text(*contest.least_over_cap)),
            .exit = ExitCode::kLimit};
  return {.code = kNothingRuns,
          .where = task.options.name_of_model(),
          .saw = why_nothing_runs(contest, task.who),
          .allowed = "at least one plan that runs",
          .exit = ExitCode::kUnsupported};
}

}  // namespace

Result<void> write_plan_file(const MeasureEnv& env, Contestant& contestant, Contest& contest) {
  if (!contestant.file.empty()) return {};
  contestant.file = env.folder.file(fmt::format("plan-{}.collage", contest.files_written++));
  const double begin_s = env.budget.total_s();
  COLLAGE_TRY_VOID(save_plan(only_to_run(env.packer.pack(contestant.plan)), contestant.file, Durability::kPassing));
  std::error_code unknown;
  const auto bytes = static_cast<double>(std::filesystem::file_size(contestant.file, unknown));
  if (!unknown && bytes > kBytesThatTell)
    contest.write_s_per_byte = std::max(contest.write_s_per_byte, (env.budget.total_s() - begin_s) / bytes);
  return {};
}

GuardOptions guard_options(const TuneTask& task, const MeasureEnv& env, std::int64_t quiet_ns) {
  const double budget_s = env.budget.seconds();
  return {.inputs = task.prepared.inputs,
          .expected = task.prepared.outputs,
          .more = task.prepared.more_inputs,
          .accuracy = to_string(task.options.output_bound()),
          .threads = task.options.threads,
          .heat_seconds = std::min(1.5, 0.02 * budget_s),
          .final_seconds = std::min(8.0, 0.05 * budget_s),
          .deadline = env.budget.after(Budget::kContestShare),
          .apart = !task.who.conflicts.empty(),
          .seed = task.options.seed,
          .quiet_ns = quiet_ns,
          .stop = env.stop};
}

Result<void> judge(const TuneTask& task, const MeasureEnv& env, std::int64_t quiet_ns, Contest& contest) {
  if (contest.competing.empty()) return std::unexpected(nothing_runs(task, contest));
  return hold(guard_options(task, env, quiet_ns), timing_question(task), task, env, contest);
}

Result<void> judge_covers(const TuneTask& task, const MeasureEnv& env, std::int64_t quiet_ns, Contest& contest) {
  if (contest.is_over) return {};
  const bool is_over = env.budget.is_past(1) || repeats_too_late(env, contest);
  if (!contest.saved.empty() && env.deadlines.decides("covers", "no contest", is_over)) {
    contest.competing.erase(contest.competing.begin() + static_cast<std::ptrdiff_t>(contest.last.plans),
                            contest.competing.end());
    contest.is_cut = true;
    return {};
  }
  return judge(task, env, quiet_ns, contest);
}

Result<void> judge_engines(const TuneTask& task, const MeasureEnv& env, Contest& contest) {
  if (!contest.has_plan() || env.stop.stop_requested()) return {};
  GuardOptions guard = guard_options(task, env, 0);
  guard.heat_seconds = std::min(kFirstSeconds, guard.heat_seconds);
  guard.heat_rounds = kFewestRounds;
  guard.has_final = false;
  const std::string question = "engines alone|" + timing_question(task);
  auto held = hold(guard, question, task, env, contest);
  if (!held && held.error().code == kNothingRuns && enter_reference(task, env, contest)) {
    const std::string saw = held.error().saw;
    held = hold(guard, question, task, env, contest);
    if (held)
      contest.notes.push_back(fmt::format(
          "no engine but the reference keeps the bound on the inputs made up ({}): the model may enlarge what rounding "
          "differs by; --input-range gives it inputs as in use, --accuracy max= another bound",
          saw));
  }
  // Engines that give wrong numbers, or bring each other down, are told of when covers compete with them.
  if (!held) return held.error().exit == ExitCode::kIo ? held : Result<void>();
  env.budget.reserve(kept_for_contests_s(contest.last.seconds, env.budget.seconds()));
  return {};
}

bool may_judge_again(const MeasureEnv& env, const std::string& stage, Contest& contest) {
  if (env.user_stop.stop_requested()) return false;
  const bool may = env.deadlines.decides(
      stage, "another contest",
      !env.stop.stop_requested() && env.budget.elapsed_s() + contest.last.seconds <= env.budget.seconds());
  contest.is_cut |= !may;
  return may;
}

}  // namespace collage
