#include "tune/confirm/narrow_trial.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/roles.h"
#include "base/hash.h"
#include "region/narrow_variant.h"
#include "tune/confirm/enter_covers.h"
#include "tune/confirm/output_check.h"
#include "tune/price/quick_cover.h"

namespace collage {
namespace {

/// Of the budget, for making all plans of the trial.
constexpr double kTrialShare = 0.15;
/// An engine that errs so little tells that rounding does no harm.
constexpr double kHarmless = 0.6;
/// Kernels that fail where they are needed are replaced: so many plans at most.
constexpr int kMostPlans = 12;

bool has_narrow_candidate(const CandidatePool& pool) {
  return std::ranges::any_of(pool.candidates, [](const Candidate& one) { return is_narrow(one.variant); });
}

/// The engine that computes in 16 bits when left alone; null where there is none.
const Contestant* narrow_engine(const Contest& contest) {
  const auto found = std::ranges::find_if(contest.competing, [](const Contestant& one) {
    return one.is_rival && is_at_default_precision(one.cover.steps.front().backend);
  });
  return found == contest.competing.end() ? nullptr : &*found;
}

/// Judges a plan and widens its nodes. False when there was no time for one.
bool judge_quick_plan(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  const Seconds most(kTrialShare * env.budget.seconds());
  const ArtifactLimits limits{.stop = env.stop,
                              .latest = Clock::now() + std::chrono::duration_cast<Clock::duration>(most)};
  for (int plan = 0; plan < kMostPlans && Clock::now() < limits.latest; ++plan) {
    auto quick = quick_cover(task, env, priced);
    if (!quick || !has_narrow_step(quick->cover)) return true;
    auto made = contestant_of(task, env, "made quickly", std::move(quick->cover), limits, priced, contest);
    if (!made && made.error().code == kNoTimeForPlan) return false;
    if (!made) continue;  // the next cover is without what does not work
    const auto keeps = keeps_bound(task, env, *made, contest);
    if (keeps && !*keeps && made->share > kMostShare) widen_nodes(task, env, *made, priced, contest);
    return keeps.has_value();
  }
  return false;
}

void keep_all_full(Priced& priced, std::size_t count) {
  priced.full_nodes = NodeSet(count);
  for (std::size_t n = 0; n < count; ++n) priced.full_nodes.insert(n);
}

/// What the store keeps: the nodes in full precision, and the notes that say why.
std::string text_of(const NodeSet& nodes, std::span<const std::string> notes) {
  return nlohmann::json{{"nodes", nodes.members()}, {"notes", notes}}.dump();
}

/// False where the text is none of text_of().
bool take_answer(const std::string& text, std::size_t count, Priced& priced, Contest& contest) {
  try {
    const auto json = nlohmann::json::parse(text);
    NodeSet nodes(count);
    for (const auto n : json.at("nodes").get<std::vector<std::size_t>>()) {
      if (n >= count) return false;
      nodes.insert(n);
    }
    auto notes = json.at("notes").get<std::vector<std::string>>();
    if (!nodes.empty()) priced.full_nodes = std::move(nodes);
    std::ranges::move(notes, std::back_inserter(contest.notes));
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

void try_narrow(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  if (!priced.has_covers() || !has_narrow_candidate(priced.pool.candidates)) return;
  const Contestant* const engine = narrow_engine(contest);
  if (engine != nullptr && engine->may_ship && engine->share <= kHarmless) return;
  const std::size_t count = task.graph().nodes.size();
  const std::string key = "nodes in full precision|" +
                          hash_hex(fmt::format("{}|{}", tune_question(task, env.registry), env.budget.seconds()));
  if (const auto known = env.store.verdict(key); known && take_answer(*known, count, priced, contest)) return;
  env.say("narrow");
  const std::size_t notes = contest.notes.size();
  const bool is_judged = judge_quick_plan(task, env, priced, contest);
  if (!is_judged && engine != nullptr && !engine->may_ship) {
    keep_all_full(priced, count);
    contest.notes.push_back(title_of(*engine) +
                            " is outside the bound, and there was no time to find the nodes that may have 16 bits: "
                            "all keep full precision");
  }
  if (!env.user_stop.stop_requested())
    env.store.put_verdict(key, text_of(priced.full_nodes, std::span(contest.notes).subspan(notes)));
}

}  // namespace collage
