#include "tune/confirm/narrow_trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backend/narrow_element.h"
#include "backend/roles.h"
#include "base/hash.h"
#include "base/json.h"
#include "tune/confirm/enter_covers.h"
#include "tune/confirm/output_check.h"
#include "tune/price/quick_cover.h"

namespace collage {
namespace {

constexpr const char* kStoredNodes = "stored nodes that may not round";
/// Of the budget, for making all plans of the trial.
constexpr double kTrialShare = 0.2;
/// An engine that errs so little of the bound tells that rounding does no harm; one that errs less does not round.
constexpr double kHarmless = 0.6;
constexpr double kLeastOfRounding = 0.02;
/// Of the bound: beyond it the nodes that may round all the same are so few that they do not pay for finding them.
constexpr double kMostError = 2.5;
/// Plans in fixed point err 6 to 100 times less, in models that were seen both ways.
constexpr double kMostErrorOfFloats = 80 * kMostError;
/// Kernels that fail where they are needed are replaced: so many plans at most.
constexpr int kMostPlans = 16;

/// The engine that computes in 16 bits when left alone; null where there is none, or none that was judged.
const Contestant* narrow_engine(const Contest& contest) {
  const auto found = std::ranges::find_if(contest.competing, [](const Contestant& one) {
    return one.is_rival && one.share.largest > 0 && is_at_default_precision(one.cover.steps.front().backend);
  });
  return found == contest.competing.end() ? nullptr : &*found;
}

bool shows_no_harm(const Contestant& engine) {
  const bool is_same_element = narrow_element({.accuracy = Accuracy::kFast}) == ElementType::kBfloat16;
  return is_same_element && engine.share.largest >= kLeastOfRounding && engine.share.largest <= kHarmless;
}

/// Unsettled: no time, or kernels that failed one after another.
enum class TrialEnd : std::uint8_t { kJudged, kUnsettled, kFailed };

/// No 16-bit floats anywhere, after plans that err so much of the bound; true where fixed point is left.
bool limit_all(const TuneTask& task, double share, Priced& priced) {
  const NodeSet all = all_nodes(task.graph().nodes.size());
  if (std::isfinite(share) && share > kMostErrorOfFloats)
    priced.limits.forbid_16_bits(all);
  else
    priced.limits.forbid_floats(all, priced.pool.candidates);
  return !priced.limits.is_full(all.universe());
}

std::string left_text(bool may_be_fixed) {
  return may_be_fixed ? "16 bits in fixed point alone" : "all nodes keep full precision";
}

TrialEnd judge_plan(const TuneTask& task, const MeasureEnv& env, Contestant& made, Priced& priced, Contest& contest) {
  const auto keeps = keeps_bound(task, env, made, contest);
  if (!keeps) return TrialEnd::kFailed;
  if (*keeps || made.share.has_reserve()) return TrialEnd::kJudged;
  if (made.share.largest <= kMostError) {
    limit_nodes(task, env, made, priced, contest);
    return TrialEnd::kJudged;
  }
  const bool may_be_fixed = limit_all(task, made.share.largest, priced);
  contest.notes.push_back(fmt::format("plan \"{}\" errs {:.2f} times the bound: {}", made.name, made.share.largest,
                                      left_text(may_be_fixed)));
  return TrialEnd::kJudged;
}

/// Judges a plan and limits its nodes.
TrialEnd judge_quick_plan(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  const auto share = std::chrono::duration_cast<Clock::duration>(Seconds(kTrialShare * env.budget.seconds()));
  const ArtifactLimits limits{.stop = env.stop,
                              .latest = std::min(Clock::now() + share, env.budget.after(Budget::kPricingShare))};
  QuickCovers covers(task, env, priced);
  for (int plan = 0; plan < kMostPlans; ++plan) {
    if (Clock::now() > limits.latest || env.stop.stop_requested()) return TrialEnd::kUnsettled;
    auto quick = covers.best();
    if (!quick) return TrialEnd::kFailed;
    if (!has_narrow_step(quick->cover)) return TrialEnd::kJudged;
    auto made = contestant_of(task, env, "made quickly", std::move(quick->cover), limits, priced, contest);
    if (made) return judge_plan(task, env, *made, priced, contest);
    if (made.error().code == kNoTimeForPlan) return TrialEnd::kUnsettled;
    // The next cover is without what does not work; nothing else changes with it.
    if (made.error().code != kNoArtifact) return TrialEnd::kFailed;
  }
  return TrialEnd::kUnsettled;
}

/// What a trial found: nodes in full precision, and the notes that say why.
struct Answer {
  double budget_s = 0;
  std::vector<std::size_t> full, fixed_point;  ///< nodes (precision_limits.h)
  std::vector<std::string> notes;
};

std::string key_of(const TuneTask& task, const MeasureEnv& env) {
  const Objective& objective = task.options.objective;
  return "nodes that may not round|" +
         hash_hex(fmt::format("{}|{}|{}|{}", tune_question(task, env.registry), objective.memory_cap,
                              objective.ns_per_byte, task.options.only.has_value()));
}

/// Nothing for one of a smaller budget.
std::optional<Answer> recalled(const std::string& key, const MeasureEnv& env, std::size_t count) {
  const auto text = env.store.verdict(key);
  if (!text) return std::nullopt;
  const auto json = parse_json(*text, kStoredNodes);
  if (!json) return std::nullopt;
  auto answer = read_json(kStoredNodes, [&] {
    return Answer{.budget_s = json->at("budget").get<double>(),
                  .full = json->at("nodes").get<std::vector<std::size_t>>(),
                  .fixed_point = json->at("fixed_point").get<std::vector<std::size_t>>(),
                  .notes = json->at("notes").get<std::vector<std::string>>()};
  });
  if (!answer || answer->budget_s < env.budget.seconds()) return std::nullopt;
  for (const auto* nodes : {&answer->full, &answer->fixed_point})
    if (std::ranges::any_of(*nodes, [&](std::size_t n) { return n >= count; })) return std::nullopt;
  return *std::move(answer);
}

void take(Answer answer, const Graph& graph, Priced& priced, Contest& contest) {
  priced.limits.forbid_16_bits(node_set(graph, answer.full));
  priced.limits.forbid_floats(node_set(graph, answer.fixed_point), priced.pool.candidates);
  drop_narrow(priced);
  std::ranges::move(answer.notes, std::back_inserter(contest.notes));
}

void limit_alone(const NodeSet& nodes, Priced& priced, Contest& contest) {
  if (nodes.empty()) return;
  priced.limits.forbid_floats(nodes, priced.pool.candidates);
  contest.notes.push_back(
      fmt::format("nodes without 16-bit floats, because they alone round too much: {}", nodes.count()));
}

void run_trial(const TuneTask& task, const MeasureEnv& env, const Contestant* engine, Priced& priced,
               Contest& contest) {
  env.say("narrow");
  const bool is_outside = engine != nullptr && !engine->share.has_reserve();
  const std::string name = is_outside ? title_of(*engine) : "";
  const TrialEnd trial = judge_quick_plan(task, env, priced, contest);
  limit_alone(priced.pricing->rounding_nodes(priced.pool.candidates), priced, contest);
  // What the plan's kernels taught is not in the answer that the store keeps: the same tune must not know it either.
  restart_pricing(task, env, priced);
  contest.least_over_cap.reset();
  if (trial != TrialEnd::kUnsettled || !is_outside) return;
  const bool may_be_fixed = limit_all(task, engine->share.largest, priced);
  contest.notes.push_back(
      name + " is outside the bound, and there was no time to find nodes that may round: " + left_text(may_be_fixed));
}

}  // namespace

void try_narrow(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  if (!priced.has_covers() || !has_narrow_candidate(priced.pool.candidates)) return;
  const std::string key = key_of(task, env);
  if (auto answer = recalled(key, env, task.graph().nodes.size())) {
    take(*std::move(answer), task.graph(), priced, contest);
    return;
  }
  const Contestant* const engine = narrow_engine(contest);
  const auto before = static_cast<std::ptrdiff_t>(contest.notes.size());
  if (engine == nullptr || !shows_no_harm(*engine)) run_trial(task, env, engine, priced, contest);
  drop_narrow(priced);
  if (env.user_stop.stop_requested()) return;
  const std::vector<std::string> notes(contest.notes.begin() + before, contest.notes.end());
  env.store.put_verdict(key, to_line(Json{{"budget", env.budget.seconds()},
                                          {"nodes", priced.limits.full().members()},
                                          {"fixed_point", priced.limits.fixed_point().members()},
                                          {"notes", notes}}));
}

}  // namespace collage
