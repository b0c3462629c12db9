#include "tune/tune_result.h"

#include <algorithm>
#include <span>

#include "backend/roles.h"
#include "tune/confirm/enter_covers.h"
#include "tune/price/costs_alone.h"

namespace collage {
namespace {

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

void note_prediction(const Contestant& contestant, TuneReport& report) {
  if (!contestant.search || contestant.median_ns == 0) return;
  report.predictions.push_back({.cover = contestant.name,
                                .predicted_us = microseconds(contestant.search->cover.cost_ns),
                                .measured_us = microseconds(contestant.median_ns)});
}

void add_losers(const Contest& contest, TuneReport& report) {
  for (const Contestant* loser : contest.losers()) {
    note_prediction(*loser, report);
    if (const std::string why = why_it_may_not_ship(*loser); !why.empty()) report.notes.push_back(why);
    if (!loser->failure.empty())
      report.notes.push_back(title_of(*loser) + " takes no part: " + loser->failure);
    else
      report.rivals.push_back({.name = loser->name,
                               .title = title_of(*loser),
                               .median_ns = loser->median_ns,
                               .verdict = loser->verdict,
                               .ratio = loser->ratio,
                               .is_engine = loser->is_rival});
  }
  std::ranges::stable_sort(report.rivals, {}, &RivalTime::median_ns);
}

/// The cheapest cover under the cost table as it is now: regions became candidates after the searches, so that the one
/// that ships may be it.
Cover cheapest(const TuneResult& result, const SearchResult& search) {
  const Contestant& winner = result.contest.winner();
  if (winner.is_rival) return search.cover;
  const std::int64_t launch_ns = cover_request(result.task, result.priced, {}).search.launch_ns;
  const std::int64_t shipped_ns = total_ns(sum_of(winner.cover, launch_ns));
  if (shipped_ns >= search.cover.cost_ns) return search.cover;
  Cover cover = winner.cover;
  cover.cost_ns = shipped_ns;
  return cover;
}

/// Where everything was measured or refused the two bounds are one.
bool are_bounds_apart(const Priced& priced) {
  return !priced.bodies.empty() || std::ranges::any_of(priced.costs, [](const Cost& cost) {
    return !std::holds_alternative<Measured>(cost) && !std::holds_alternative<Infeasible>(cost);
  });
}

/// Candidates without a time, by why; not those whose cost is the user's estimate.
Ended count_unmeasured(const Priced& priced, bool estimates_are_costs) {
  Ended ended;
  for (std::size_t c = 0; c < priced.costs.size(); ++c) {
    const Cost& cost = priced.costs[c];
    // Made of steps with costs of their own.
    if (priced.pool.candidates.candidates[c].backend == kControlBackend) continue;
    if (is_sampled(cost)) continue;
    const bool is_estimated = std::holds_alternative<Estimated>(cost);
    if (!std::holds_alternative<Unknown>(cost) && (!is_estimated || estimates_are_costs)) continue;
    const Unmeasured why = c < priced.why_unmeasured.size() ? priced.why_unmeasured[c] : Unmeasured::kUnknown;
    if (why == Unmeasured::kOutOfTime)
      ++ended.out_of_time;
    else if (why == Unmeasured::kStopped)
      ++ended.not_before_stop;
    else
      ++ended.not_needed;
  }
  return ended;
}

std::vector<RuleEffect> rule_effects(const TuneResult& result) {
  std::vector<RuleEffect> effects = result.priced.pool.rule_effects;
  const UserRules& rules = result.task.options.user_rules;
  const Contestant& winner = result.contest.winner();
  if (effects.size() >= rules.size() && !winner.is_rival)
    count_rule_steps(result.task.graph(), rules, winner.cover, std::span(effects).last(rules.size()));
  return effects;
}

/// Against the fastest that may not ship; paired by round where there were enough.
std::optional<LibraryCost> library_cost(const Contest& contest) {
  const Contestant* fastest = nullptr;
  for (const Contestant* loser : contest.losers())
    if (!loser->may_ship && loser->median_ns > 0 && (fastest == nullptr || loser->median_ns < fastest->median_ns))
      fastest = loser;
  if (fastest == nullptr) return std::nullopt;
  const double medians = static_cast<double>(contest.winner().median_ns) / static_cast<double>(fastest->median_ns);
  return LibraryCost{.title = title_of(*fastest),
                     .us = microseconds(fastest->median_ns),
                     .ratio = fastest->ratio ? 1 / fastest->ratio->ratio : medians};
}

/// By the times of steps in the plan where they were taken, else by their costs.
std::map<std::string, double> time_shares(const Contestant& winner) {
  std::map<std::string, double> shares;
  if (winner.is_rival) return shares;
  const auto ns_of = [&](std::size_t s) {
    const bool has_time = winner.step_ns.size() == winner.cover.steps.size();
    return static_cast<double>(has_time ? winner.step_ns[s] : nanoseconds_of(winner.cover.steps[s].cost).value_or(0));
  };
  double all = 0;
  for (std::size_t s = 0; s < winner.cover.steps.size(); ++s) {
    shares[winner.cover.steps[s].backend] += ns_of(s);
    all += ns_of(s);
  }
  for (auto& [name, share] : shares) share = all > 0 ? share / all : 0;
  return shares;
}

void add_winner(const Contestant& winner, const Plan& plan, TuneReport& report) {
  report.shipped = winner.is_rival ? winner.name : "cover";
  report.title = title_of(winner);
  report.measured_us = microseconds(winner.median_ns);
  report.predicted_us = winner.search ? microseconds(winner.search->cover.cost_ns) : report.measured_us;
  report.memory_bytes = winner.memory_bytes;
  const StepCounts counts = count_steps(plan);
  report.steps = counts.steps;
  report.views = counts.views;
  report.backends = counts.backends;
  report.shares = time_shares(winner);
}

}  // namespace

CoverBounds cover_bounds(const TuneResult& result) {
  CoverBounds bounds;
  const SearchResult* search = result.contest.best_search();
  if (search == nullptr) return bounds;
  bounds.best = cheapest(result, *search);
  bounds.cover_ns = bounds.best->cost_ns;
  bounds.model_ns = std::min(search->bound_ns, bounds.cover_ns);
  for (const SearchResult& other : result.alternatives.covers)
    bounds.model_ns = std::min(bounds.model_ns, other.bound_ns);
  bounds.proven_ns = bounds.model_ns;
  if (!are_bounds_apart(result.priced)) return bounds;
  const auto proven =
      result.priced.pricing->proven_bound(cover_request(result.task, result.priced, {}), *result.priced.bounds);
  bounds.proven_ns = proven ? std::min(*proven, bounds.model_ns) : 0;
  return bounds;
}

TuneReport report_on(const TuneResult& result, const CoverBounds& bounds, const Plan& plan) {
  const TuneOptions& options = result.task.options;
  TuneReport report{.plan = options.output, .model = options.name_of_model(), .threads = options.threads};
  report.passes_off = options.passes_off;
  report.notes = result.task.who.notes;
  report.notes.insert(report.notes.end(), result.contest.notes.begin(), result.contest.notes.end());
  add_winner(result.contest.winner(), plan, report);
  note_prediction(result.contest.winner(), report);
  report.curve = result.contest.curve;
  add_losers(result.contest, report);
  report.for_library = options.for_library;
  if (options.for_library) report.library_cost = library_cost(result.contest);
  if (bounds.best) report.cover = to_text(result.task.graph(), *bounds.best);
  report.cover_us = microseconds(bounds.cover_ns);
  report.second_half_gain = result.priced.second_half_gain;
  report.model_bound_us = microseconds(bounds.model_ns);
  report.proven_bound_us = microseconds(bounds.proven_ns);
  const PriceCounts counts = result.priced.counts();
  report.candidates = result.priced.candidate_count();
  report.measured = counts.measured;
  report.reused = counts.reused;
  report.refused = counts.refused;
  report.ended = count_unmeasured(result.priced, result.task.options.estimates.stand_for_costs());
  report.rules = rule_effects(result);
  return report;
}

std::string why_no_covers(const Priced& priced, const MeasureEnv& env) {
  if (env.user_stop.stop_requested() && priced.pricing) return what_the_stop_left(priced);
  return priced.pricing ? to_string(*priced.no_covers) : priced.no_covers->saw;
}

}  // namespace collage
