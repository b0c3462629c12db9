#include "tune/outcome.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "backend/roles.h"

namespace collage {
namespace {

void note_prediction(const Contestant& contestant, TuneReport& report) {
  if (!contestant.search || contestant.median_ns == 0) return;
  report.predictions.push_back({.cover = contestant.name,
                                .predicted_us = static_cast<double>(contestant.search->cover.cost_ns) / 1000,
                                .measured_us = static_cast<double>(contestant.median_ns) / 1000});
}

void count_steps(const Cover& cover, TuneReport& report) {
  for (const CoverStep& step : cover.steps) {
    ++report.backends[step.backend];
    for (const Cover& body : step.bodies) count_steps(body, report);
  }
}

void fill_losers(const Outcome& outcome, TuneReport& report) {
  for (const Contestant* loser : outcome.contest.losers()) {
    note_prediction(*loser, report);
    if (!loser->failure.empty())
      report.notes.push_back("\"" + loser->name + "\" failed: " + loser->failure);
    else
      report.rivals.push_back({.name = loser->name, .median_ns = loser->median_ns, .verdict = loser->verdict});
  }
}

void fill_search(const Outcome& outcome, const SearchResult& search, TuneReport& report) {
  report.cover = to_text(outcome.graph, search.cover);
  report.cover_us = static_cast<double>(search.cover.cost_ns) / 1000;
  // Regions may have become candidates after the search.
  std::int64_t bound_ns = search.bound_ns;
  for (const SearchResult& other : outcome.alternatives.covers) bound_ns = std::min(bound_ns, other.bound_ns);
  report.model_bound_us = static_cast<double>(bound_ns) / 1000;
  report.proven_bound_us = report.model_bound_us;
  // Where everything was measured or refused the two bounds are one.
  const bool is_open = std::ranges::any_of(outcome.costs, [](const Cost& cost) {
    return !std::holds_alternative<Measured>(cost) && !std::holds_alternative<Infeasible>(cost);
  });
  if (!is_open && !outcome.has_bodies) return;
  const auto proven = outcome.pricing->proven_bound(outcome.request, *outcome.bounds);
  report.proven_bound_us = proven ? static_cast<double>(*proven) / 1000 : 0;
}

CompetingPlan competing(const Outcome& outcome, const Contestant& contestant) {
  const std::vector<std::string>& backends = outcome.who.backends();
  std::set<std::string> used;
  for (const CoverStep& step : contestant.cover.steps)
    if (std::ranges::find(backends, step.backend) != backends.end()) used.insert(step.backend);
  return {.name = contestant.name,
          .cover = &contestant.cover,
          .median_ns = contestant.median_ns,
          .is_rival = contestant.is_rival,
          .is_single = contestant.is_rival || used.size() < 2 || contestant.name.starts_with("only ")};
}

void add_plans(const Outcome& outcome, ExplainInputs& inputs) {
  inputs.plans.push_back(competing(outcome, outcome.contest.winner()));
  for (const Contestant* loser : outcome.contest.losers()) inputs.plans.push_back(competing(outcome, *loser));
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
  inputs.locations = outcome.who.locations();
}

}  // namespace

void fill_report(const Outcome& outcome, TuneReport& report) {
  const Contestant& winner = outcome.contest.winner();
  report.plan = outcome.options.output;
  report.model = outcome.options.model;
  report.threads = outcome.options.threads;
  report.shipped = winner.is_rival ? winner.name : "cover";
  report.measured_us = static_cast<double>(winner.median_ns) / 1000;
  report.memory_bytes = winner.memory_bytes;
  report.steps = step_count(winner.plan.plan);
  report.notes.insert(report.notes.end(), outcome.who.notes().begin(), outcome.who.notes().end());
  report.notes.insert(report.notes.end(), outcome.notes.begin(), outcome.notes.end());
  count_steps(winner.cover, report);
  note_prediction(winner, report);
  fill_losers(outcome, report);
  if (const SearchResult* best = outcome.contest.best_search()) fill_search(outcome, *best, report);
  if (outcome.pricing != nullptr) count_measured(outcome, report);
  report.predicted_us = winner.search ? static_cast<double>(winner.search->cover.cost_ns) / 1000 : report.measured_us;
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
