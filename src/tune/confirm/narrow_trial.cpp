#include "tune/confirm/narrow_trial.h"

#include <algorithm>

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

/// False where the text is none of text_of().
bool take_nodes(const std::string& text, std::size_t count, Priced& priced) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return false;
  NodeSet nodes(count);
  for (const nlohmann::json& n : json) {
    if (!n.is_number_unsigned() || n.get<std::size_t>() >= count) return false;
    nodes.insert(n.get<std::size_t>());
  }
  if (!nodes.empty()) priced.full_nodes = std::move(nodes);
  return true;
}

std::string text_of(const NodeSet& nodes) { return nlohmann::json(nodes.members()).dump(); }

}  // namespace

void try_narrow(const TuneTask& task, const MeasureEnv& env, Priced& priced, Contest& contest) {
  if (!priced.has_covers() || !has_narrow_candidate(priced.pool.candidates)) return;
  const Contestant* const engine = narrow_engine(contest);
  if (engine != nullptr && engine->may_ship && engine->share <= kHarmless) return;
  const std::size_t count = task.graph().nodes.size();
  const std::string key = "nodes in full precision|" +
                          hash_hex(fmt::format("{}|{}", tune_question(task, env.registry), env.budget.seconds()));
  if (const auto known = env.store.verdict(key); known && take_nodes(*known, count, priced)) return;
  env.say("round");
  const bool is_judged = judge_quick_plan(task, env, priced, contest);
  if (!is_judged && engine != nullptr && !engine->may_ship) {
    keep_all_full(priced, count);
    contest.notes.push_back(title_of(*engine) +
                            " is outside the bound, and there was no time to find the nodes that may have 16 bits: "
                            "all keep full precision");
  }
  if (!env.user_stop.stop_requested()) env.store.put_verdict(key, text_of(priced.full_nodes));
}

}  // namespace collage
