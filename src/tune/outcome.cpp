#include "tune/outcome.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "backend/roles.h"
#include "tune/price/costs_alone.h"

namespace collage {
namespace {

void note_prediction(const Contestant& contestant, TuneReport& report) {
  if (!contestant.search || contestant.median_ns == 0) return;
  report.predictions.push_back({.cover = contestant.name,
                                .predicted_us = static_cast<double>(contestant.search->cover.cost_ns) / 1000,
                                .measured_us = static_cast<double>(contestant.median_ns) / 1000});
}

/// Backends that run steps, the host aside: it only moves data and is in every plan.
void add_backends(const Cover& cover, std::set<std::string>& names) {
  for (const CoverStep& step : cover.steps) {
    if (needs_backend(step.kind) && step.backend != kHostBackend) names.insert(step.backend);
    for (const Cover& body : step.bodies) add_backends(body, names);
  }
}

void fill_losers(const Outcome& outcome, TuneReport& report) {
  for (const Contestant* loser : outcome.contest.losers()) {
    note_prediction(*loser, report);
    if (!loser->failure.empty())
      report.notes.push_back(title_of(*loser) + " takes no part: " + loser->failure);
    else
      report.rivals.push_back({.name = loser->name,
                               .title = title_of(*loser),
                               .median_ns = loser->median_ns,
                               .verdict = loser->verdict,
                               .ratio = loser->ratio});
  }
  std::ranges::stable_sort(report.rivals, {}, &RivalTime::median_ns);
}

/// The cheapest cover under the cost table as it is now: regions became candidates after the searches, so that the one
/// that ships may be it.
Cover cheapest(const Outcome& outcome, const SearchResult& search) {
  const Contestant& winner = outcome.contest.winner();
  if (winner.is_rival) return search.cover;
  const std::int64_t shipped_ns = total_ns(sum_of(winner.cover, outcome.request.search.launch_ns));
  if (shipped_ns >= search.cover.cost_ns) return search.cover;
  Cover cover = winner.cover;
  cover.cost_ns = shipped_ns;
  return cover;
}

void fill_search(const Outcome& outcome, const SearchResult& search, TuneReport& report) {
  const Cover best = cheapest(outcome, search);
  report.cover = to_text(outcome.graph, best);
  report.cover_us = static_cast<double>(best.cost_ns) / 1000;
  std::int64_t bound_ns = std::min(search.bound_ns, best.cost_ns);
  for (const SearchResult& other : outcome.alternatives.covers) bound_ns = std::min(bound_ns, other.bound_ns);
  report.model_bound_us = static_cast<double>(bound_ns) / 1000;
  report.proven_bound_us = report.model_bound_us;
  // Where everything was measured or refused the two bounds are one.
  const bool is_open = std::ranges::any_of(outcome.costs, [](const Cost& cost) {
    return !std::holds_alternative<Measured>(cost) && !std::holds_alternative<Infeasible>(cost);
  });
  if (!is_open && !outcome.has_bodies) return;
  const auto proven = outcome.pricing->proven_bound(outcome.request, *outcome.bounds);
  report.proven_bound_us = proven ? static_cast<double>(std::min(*proven, bound_ns)) / 1000 : 0;
}

CompetingPlan competing(const Contestant& contestant) {
  std::set<std::string> used;
  add_backends(contestant.cover, used);
  return {.name = title_of(contestant),
          .cover = &contestant.cover,
          .median_ns = contestant.median_ns,
          .is_rival = contestant.is_rival,
          .is_single = contestant.is_rival || used.size() < 2};
}

void add_plans(const Outcome& outcome, ExplainInputs& inputs) {
  inputs.plans.push_back(competing(outcome.contest.winner()));
  for (const Contestant* loser : outcome.contest.losers()) inputs.plans.push_back(competing(*loser));
  for (const SearchResult& other : outcome.alternatives.covers)
    inputs.plans.push_back({.name = "alternative", .cover = &other.cover, .is_alternative = true});
  inputs.alternatives_complete = outcome.alternatives.complete;
  inputs.why_no_alternatives = outcome.alternatives.why_none;
}

void add_participants(const Outcome& outcome, ExplainInputs& inputs) {
  const std::vector<std::string>& asked = outcome.who.backends();
  for (const std::string& name : outcome.who.proposing()) {
    const bool is_asked = std::ranges::find(asked, name) != asked.end();
    const bool fills = !is_asked && (name == kFillerEngine || outcome.options.only);
    (fills ? inputs.fillers : inputs.backends).push_back(name);
  }
  inputs.only = outcome.options.only.value_or("");
  inputs.absent = outcome.who.absent();
  inputs.rules = outcome.who.rules();
  inputs.user_rules = outcome.options.user_rules;
  inputs.proposals = outcome.proposals;
  inputs.locations = outcome.who.locations();
}

}  // namespace

void fill_report(const Outcome& outcome, TuneReport& report) {
  const Contestant& winner = outcome.contest.winner();
  report.plan = outcome.options.output;
  report.model = outcome.options.model;
  report.threads = outcome.options.threads;
  report.passes_off = outcome.options.passes_off;
  report.shipped = winner.is_rival ? winner.name : "cover";
  report.measured_us = static_cast<double>(winner.median_ns) / 1000;
  report.memory_bytes = winner.memory_bytes;
  report.title = title_of(winner);
  const StepCounts counts = count_steps(winner.plan.plan);
  report.steps = counts.steps;
  report.views = counts.views;
  report.backends = counts.backends;
  report.rules = outcome.rules;
  if (report.rules.size() >= outcome.options.user_rules.size() && !winner.is_rival)
    count_rule_steps(outcome.graph, outcome.options.user_rules, winner.cover,
                     std::span(report.rules).last(outcome.options.user_rules.size()));
  report.notes.insert(report.notes.end(), outcome.who.notes().begin(), outcome.who.notes().end());
  report.notes.insert(report.notes.end(), outcome.notes.begin(), outcome.notes.end());
  note_prediction(winner, report);
  fill_losers(outcome, report);
  if (const SearchResult* best = outcome.contest.best_search()) fill_search(outcome, *best, report);
  if (outcome.pricing != nullptr) count_measured(outcome, report);
  report.predicted_us = winner.search ? static_cast<double>(winner.search->cover.cost_ns) / 1000 : report.measured_us;
}

void count_unmeasured(const Outcome& outcome, Ended& ended) {
  for (std::size_t c = 0; c < outcome.costs.size(); ++c) {
    const Cost& cost = outcome.costs[c];
    if (outcome.pool.candidates[c].backend == kControlBackend) continue;  // made of steps with costs of their own
    if (!std::holds_alternative<Unknown>(cost) && !std::holds_alternative<Estimated>(cost)) continue;
    const Unmeasured why = c < outcome.why_unmeasured.size() ? outcome.why_unmeasured[c] : Unmeasured::kUnknown;
    if (why == Unmeasured::kOutOfTime)
      ++ended.out_of_time;
    else if (why == Unmeasured::kStopped)
      ++ended.not_before_stop;
    else
      ++ended.not_needed;
  }
}

void count_measured(const Outcome& outcome, TuneReport& report) {
  const PriceCounts& inside = outcome.placer->counts();
  const PriceCounts& own = outcome.pricing->counts();
  report.measured = own.measured + inside.measured;
  report.reused = own.reused + inside.reused;
  report.refused = own.refused + outcome.pool.refusals.size() + inside.refused;
}

ExplainInputs explain_inputs(const Outcome& outcome, const TuneReport& report) {
  ExplainInputs inputs;
  inputs.graph = &outcome.graph;
  inputs.pool = &outcome.pool;
  inputs.costs = outcome.costs;
  if (outcome.pricing != nullptr) {
    inputs.costs = outcome.pricing->without_broken(outcome.pool, outcome.costs);
    inputs.conversions = outcome.pricing->boundary_table();
  }
  for (std::size_t c = 0; outcome.bounds != nullptr && c < outcome.costs.size(); ++c)
    inputs.lower_bound_ns.push_back(outcome.bounds->roofline(c));
  inputs.why_unmeasured = outcome.why_unmeasured;
  add_plans(outcome, inputs);
  add_participants(outcome, inputs);
  if (outcome.contest.best_search() != nullptr) {
    inputs.model_bound_ns = std::llround(report.model_bound_us * 1000);
    inputs.proven_bound_ns = std::llround(report.proven_bound_us * 1000);
  }
  return inputs;
}

}  // namespace collage
