#include "tune/confirm/output_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "numbers/output_bound.h"
#include "plan/realise.h"
#include "region/narrow_variant.h"
#include "tune/confirm/hold_contest.h"
#include "tune/confirm/step_effects.h"
#include "tune/jobs.h"

namespace collage {
namespace {

/// What is left to the steps that stay narrow. Squares add up only roughly, the next plan has narrow steps that this
/// one does not have, and another round is dearer than a few more steps in full precision.
constexpr double kWantedShare = 0.6;
/// Of that after each round, whose plan erred more than was wanted.
constexpr double kNextShare = 0.8;
/// Then nothing is narrow any more.
constexpr int kMostRounds = 6;

bool is_narrow_kernel(const CoverStep& step) {
  const auto* const kernel = std::get_if<CoverKernel>(&step.work);
  return kernel != nullptr && is_narrow(kernel->variant);
}

/// A conversion rounds as well, and the way to another full format may lead through a narrow one.
bool rounds(const CoverStep& step) {
  const auto* const conversion = std::get_if<CoverConversion>(&step.work);
  return conversion != nullptr && conversion->to.narrow() && !conversion->from.narrow();
}

/// A step of the cover with 16 bits: what it errs and what it takes.
struct NarrowStep {
  const Region* region = nullptr;
  std::string backend = {};
  const Variant* variant = nullptr;
  ElementType element = ElementType::kBfloat16;
  std::uint32_t plan_step = 0;
  double square = 0;  ///< of the share of the bound that its error takes
  double ns = 0;
};

std::vector<NarrowStep> narrow_steps(const Contestant& contestant) {
  std::vector<NarrowStep> steps;
  const std::vector<std::size_t> at = cover_steps(contestant.plan.plan);
  for (std::size_t s = 0; s < contestant.cover.steps.size(); ++s) {
    const CoverStep& step = contestant.cover.steps[s];
    if (is_narrow_kernel(step))
      steps.push_back({.region = chosen_region(step),
                       .backend = step.backend,
                       .variant = chosen_variant(step),
                       .element = *narrow_element_in(*chosen_variant(step)),
                       .plan_step = static_cast<std::uint32_t>(at[s]),
                       .ns = static_cast<double>(std::max<std::int64_t>(1, nanoseconds_of(step.cost).value_or(1)))});
  }
  return steps;
}

/// Of all of them together, as far as their errors are independent.
double total_share(const std::vector<NarrowStep>& steps) {
  return std::sqrt(std::transform_reduce(steps.begin(), steps.end(), 0.0, std::plus(),
                                         [](const NarrowStep& step) { return step.square; }));
}

Result<void> measure_effects(const TuneTask& task, const MeasureEnv& env, const Contestant& contestant,
                             std::vector<NarrowStep>& steps) {
  StepEffectsRequest request{.plan = contestant.file,
                             .inputs = task.prepared.inputs,
                             .expected = task.prepared.outputs,
                             .values = task.prepared.record,
                             .accuracy = to_string(task.options.output_bound()),
                             .threads = task.options.threads,
                             .steps = {}};
  for (const NarrowStep& step : steps) request.steps.push_back(step.plan_step);
  COLLAGE_TRY(const std::vector<double> shares, step_effects(env.worker, request));
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const double rest = s + 1 < steps.size() ? shares[s + 1] : 0;
    steps[s].square = std::max(0.0, shares[s] * shares[s] - rest * rest);
  }
  return {};
}

/// Nodes of steps that round less from now on.
struct WorstNodes {
  NodeSet in_floats, in_fixed_point;
};

/// Those that err most for their time, until what is left errs at most `most` of the bound; one at least.
WorstNodes worst_nodes(std::vector<NarrowStep> steps, double most, std::size_t nodes) {
  std::ranges::stable_sort(steps, std::greater(), [](const NarrowStep& step) { return step.square / step.ns; });
  double left = std::transform_reduce(steps.begin(), steps.end(), 0.0, std::plus(),
                                      [](const NarrowStep& step) { return step.square; });
  WorstNodes worst{.in_floats = NodeSet(nodes), .in_fixed_point = NodeSet(nodes)};
  for (const NarrowStep& step : steps) {
    if (&step != steps.data() && left <= most * most) break;
    (step.element == ElementType::kInt16 ? worst.in_fixed_point : worst.in_floats) |= step.region->nodes;
    left -= step.square;
  }
  return worst;
}

/// What shall round less so that a plan like this one gets inside.
WorstNodes nodes_to_limit(const TuneTask& task, const MeasureEnv& env, const Contestant& contestant, double wanted) {
  const std::size_t count = task.graph().nodes.size();
  std::vector<NarrowStep> steps = narrow_steps(contestant);
  // Steps in bodies cannot be told apart; neither can steps whose errors nobody could measure.
  if (steps.empty() || !std::isfinite(contestant.share.largest) || !measure_effects(task, env, contestant, steps))
    return {.in_floats = NodeSet(count), .in_fixed_point = all_nodes(count)};
  const double seen = total_share(steps);
  // Other sets of inputs, and steps whose errors do not add up, err more than the steps' squares say.
  return worst_nodes(std::move(steps), wanted * seen / contestant.share.largest, count);
}

void limit(const WorstNodes& worst, Priced& priced) {
  const PrecisionLimits before = priced.limits;
  const std::size_t count = worst.in_floats.universe();
  const CandidatePool& pool = priced.pool.candidates;
  priced.limits.forbid_16_bits(worst.in_fixed_point);
  priced.limits.forbid_floats(worst.in_floats, pool);
  if (priced.limits == before) priced.limits.forbid_floats(all_nodes(count), pool);
  if (priced.limits == before) priced.limits.forbid_16_bits(all_nodes(count));
}

Result<ConfirmLane> judged_outputs(const TuneTask& task, const MeasureEnv& env, Contestant& contestant,
                                   Contest& contest) {
  COLLAGE_TRY_VOID(write_plan_file(env, contestant, contest));
  const GuardOptions guard = guard_options(task, env, 0);
  const ConfirmRequest request{.plans = {{.name = contestant.name, .file = contestant.file}},
                               .inputs = guard.inputs,
                               .expected = guard.expected,
                               .more = guard.more,
                               .accuracy = guard.accuracy,
                               .threads = guard.threads,
                               .min_rounds = 0};
  COLLAGE_TRY(std::vector<ConfirmLane> lanes, confirm(env.worker, request, {}, guard.patience));
  return std::move(lanes.front());
}

/// The least time of its nodes in full precision, less its own, both alone; nothing where one of them was never run.
std::optional<Nanoseconds> gain_of(const NarrowStep& step, const Priced& priced) {
  const CandidatePool& pool = priced.pool.candidates;
  std::optional<Nanoseconds> own;
  std::optional<Nanoseconds> least;
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    const Cost& cost = priced.costs[c];
    const bool was_run = std::holds_alternative<Measured>(cost) || is_sampled(cost);
    if (!was_run || pool.regions[candidate.region] != *step.region) continue;
    const Nanoseconds ns = *nanoseconds_of(cost);
    if (candidate.backend == step.backend && candidate.variant == *step.variant) own = ns;
    if (!has_16_bits(candidate.variant)) least = std::min(least.value_or(ns), ns);
  }
  return own && least ? std::optional(*least - *own) : std::nullopt;
}

std::vector<ExplainedNarrowStep> explained_steps(const std::vector<NarrowStep>& steps, const Priced& priced) {
  std::vector<ExplainedNarrowStep> explained;
  for (const NarrowStep& step : steps)
    explained.push_back({.step = step.plan_step,
                         .element = std::string(name_of(step.element)),
                         .gain_ns = gain_of(step, priced),
                         .share = std::nullopt});
  return explained;
}

/// Nothing when there is no time left to measure them, or when the worker cannot.
void add_effects(const TuneTask& task, const MeasureEnv& env, const Contestant& winner, std::vector<NarrowStep> steps,
                 ExplainedPrecision& precision) {
  // The same tune again decides the same.
  const bool is_late = env.stop.stop_requested() || env.budget.is_past(Budget::kContestShare);
  if (env.deadlines.decides("precision", "no time to measure", is_late)) return;
  if (!measure_effects(task, env, winner, steps)) return;
  const double total = total_share(steps);
  // An integer that is not as expected has no share.
  if (!std::isfinite(total)) return;
  precision.predicted_share = total;
  for (std::size_t s = 0; s < steps.size(); ++s) precision.steps[s].share = std::sqrt(steps[s].square);
}

}  // namespace

NodeSet all_nodes(std::size_t count) {
  NodeSet all(count);
  for (std::size_t n = 0; n < count; ++n) all.insert(n);
  return all;
}

bool has_narrow_step(const Cover& cover) {
  return std::ranges::any_of(cover.steps, [](const CoverStep& step) {
    return is_narrow_kernel(step) || rounds(step) || std::ranges::any_of(bodies_of(step), has_narrow_step);
  });
}

bool has_narrow_candidate(const CandidatePool& pool) {
  return std::ranges::any_of(pool.candidates, [](const Candidate& one) { return is_narrow(one.variant); });
}

Result<bool> keeps_bound(const TuneTask& task, const MeasureEnv& env, Contestant& contestant, Contest& contest) {
  COLLAGE_TRY(const ConfirmLane lane, judged_outputs(task, env, contestant, contest));
  contestant.share = lane.share;
  return lane.failure.empty() && lane.share.has_reserve();
}

bool is_inside(const TuneTask& task, const MeasureEnv& env, Contestant& contestant, Contest& contest) {
  if (!has_narrow_step(contestant.cover)) return true;
  const auto keeps = keeps_bound(task, env, contestant, contest);
  if (keeps && *keeps) return true;
  contest.notes.push_back(
      fmt::format("plan \"{}\" left out: {}", contestant.name,
                  keeps ? fmt::format("it takes {:.2f} of the bound on outputs", contestant.share.largest)
                        : "unchecked, " + to_string(keeps.error())));
  return false;
}

void explain_precision(const TuneTask& task, const MeasureEnv& env, const Priced& priced, Contest& contest) {
  const Contestant& winner = contest.winner();
  if (winner.share.largest <= 0) return;
  const std::vector<NarrowStep> narrow = narrow_steps(winner);
  ExplainedPrecision precision{.bound = to_string(task.options.output_bound()),
                               .share = winner.share.largest,
                               .sets = static_cast<std::uint32_t>(1 + task.prepared.more_inputs.size()),
                               .predicted_share = std::nullopt,
                               .steps = explained_steps(narrow, priced)};
  contest.notes.push_back(fmt::format("the outputs err at most {:.2g} of what {} allows, on {} sets of inputs{}",
                                      precision.share, precision.bound, precision.sets,
                                      narrow.empty()
                                          ? ""
                                          : fmt::format("; {} of {} steps compute or store numbers in 16 bits",
                                                        narrow.size(), winner.cover.steps.size())));
  if (narrow.empty()) return;
  add_effects(task, env, winner, narrow, precision);
  contest.precision = std::move(precision);
}

void limit_nodes(const TuneTask& task, const MeasureEnv& env, const Contestant& contestant, Priced& priced,
                 Contest& contest) {
  const std::size_t count = task.graph().nodes.size();
  const double wanted = kWantedShare * std::pow(kNextShare, priced.times_outside);
  const bool is_last = ++priced.times_outside >= kMostRounds || env.stop.stop_requested();
  limit(is_last ? WorstNodes{.in_floats = NodeSet(count), .in_fixed_point = all_nodes(count)}
                : nodes_to_limit(task, env, contestant, wanted),
        priced);
  contest.notes.push_back(fmt::format("plan \"{}\" errs {:.2f} times the bound: {}", contestant.name,
                                      contestant.share.largest, to_text(priced.limits, count)));
}

}  // namespace collage
