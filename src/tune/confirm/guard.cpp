#include "tune/confirm/guard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "region/value_json.h"
#include "tune/jobs.h"

namespace collage {
namespace {

/// Plans slower than the best of the heat by this factor do not come to the final.
constexpr double kFinalShare = 1.15;
constexpr std::size_t kMostFinalists = 6;
/// Of the time that is left, for the rounds of the heat and of the final; loading the plans takes some too.
constexpr double kHeatShare = 0.25;
constexpr double kFinalTimeShare = 0.6;
/// Plans that seem slower than the fastest by more than this are not tied with it: the margin of the verdict "same".
constexpr double kTied = 1.02;
/// The least rounds that can decide anything: so many equal signs in a row.
constexpr std::size_t kDecidedRounds = 10;

bool is_late(const GuardOptions& options, std::chrono::nanoseconds ahead = {}) {
  return options.deadline && Clock::now() + ahead > *options.deadline;
}

ConfirmRequest request_for(const std::vector<PlanToJudge>& plans, const std::vector<std::size_t>& chosen,
                           const GuardOptions& options) {
  ConfirmRequest request;
  for (std::size_t e : chosen) request.plans.push_back(plans[e].timed);
  request.inputs = options.inputs;
  request.expected = options.expected;
  request.more = options.more;
  request.accuracy = options.accuracy;
  request.threads = options.threads;
  request.seed = options.seed;
  request.quiet_ns = options.quiet_ns;
  request.is_rough = !options.has_final;
  // The times of single steps are for searches that come after.
  if (is_late(options) || !options.has_final) request.profile_runs = 0;
  return request;
}

/// A share of the time that is left, so that whatever comes after has the rest; 0 = as long as it takes.
double most_seconds(const GuardOptions& options, double share) {
  if (!options.deadline) return 0;
  return std::max(0.001, share * std::chrono::duration<double>(*options.deadline - Clock::now()).count());
}

void keep(GuardVerdict& verdict, const std::vector<std::size_t>& chosen, std::vector<ConfirmLane>& lanes) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    verdict.median_ns[chosen[i]] = lanes[i].lane.median_ns();
    verdict.step_ns[chosen[i]] = lanes[i].step_ns;
    verdict.failures[chosen[i]] = lanes[i].failure;
  }
}

/// Confirms the chosen, keeps what was seen, and gives lanes to compare: what a plan costs beside time is in theirs.
Result<std::vector<ConfirmLane>> compare(const std::vector<PlanToJudge>& plans, const std::vector<std::size_t>& chosen,
                                         const ConfirmRequest& request, const ConfirmRun& confirm, bool apart,
                                         GuardVerdict& verdict) {
  COLLAGE_TRY(IsolatedLanes isolated, confirm_isolating(request, confirm, apart));
  std::vector<ConfirmLane>& lanes = isolated.lanes;
  keep(verdict, chosen, lanes);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    for (std::int64_t& ns : lanes[i].lane.samples_ns) ns += plans[chosen[i]].extra_ns;
  return std::move(lanes);
}

/// By lane, how much longer it takes than the others in the geometric mean, all compared pair by pair within rounds, so
/// that what slows all of them alike cancels out. Infinite for a lane that did not run.
std::vector<double> relative_times(const std::vector<ConfirmLane>& lanes) {
  std::vector<double> relative;
  for (const ConfirmLane& lane : lanes) {
    double sum = 0;
    std::size_t others = 0;
    for (const ConfirmLane& other : lanes) {
      if (other.lane.samples_ns.empty()) continue;
      sum += std::log(median_ratio(lane.lane, other.lane));
      ++others;
    }
    const bool ran = !lane.lane.samples_ns.empty();
    relative.push_back(ran ? std::exp(sum / static_cast<double>(others)) : std::numeric_limits<double>::infinity());
  }
  return relative;
}

/// Those that run, the fastest that may win first, as far as they are near it. `heat` by plan. None when none may win.
std::vector<std::size_t> finalists(const std::vector<PlanToJudge>& plans, const GuardVerdict& verdict,
                                   const std::vector<double>& heat) {
  std::vector<std::size_t> running;
  for (std::size_t e = 0; e < heat.size(); ++e)
    if (verdict.median_ns[e] > 0) running.push_back(e);
  std::ranges::stable_sort(running, {}, [&](std::size_t e) { return heat[e]; });
  const auto first = std::ranges::find_if(running, [&](std::size_t e) { return plans[e].may_win; });
  if (first == running.end()) return {};
  std::rotate(running.begin(), first, first + 1);
  std::vector<std::size_t> result;
  for (std::size_t e : running)
    if (heat[e] <= kFinalShare * heat[running.front()] && result.size() < kMostFinalists) result.push_back(e);
  return result;
}

/// A difference that is certain counts, however small; one that is not certain counts when it is large: rounds that are
/// too few or too noisy are no reason to ship what is slower in the median.
bool is_tied(const RaceLane& lane, const RaceLane& best) {
  const Ratio ratio = paired_ratio(lane, best);
  return verdict_of(best, lane) != Verdict::kFaster && ratio.low <= 1.0 && ratio.ratio <= kTied;
}

/// Among those that may win and are tied with the fastest of them, the one with the fewest steps; nothing when none
/// ran.
std::optional<std::size_t> simplest_of_the_best(const std::vector<PlanToJudge>& plans,
                                                const std::vector<std::size_t>& chosen,
                                                const std::vector<ConfirmLane>& lanes) {
  std::vector<double> relative = relative_times(lanes);
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (!plans[chosen[i]].may_win) relative[i] = std::numeric_limits<double>::infinity();
  const auto best = static_cast<std::size_t>(std::ranges::min_element(relative) - relative.begin());
  if (best == lanes.size() || !plans[chosen[best]].may_win || lanes[best].lane.samples_ns.empty()) return std::nullopt;
  std::size_t winner = best;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].lane.samples_ns.empty() || i == best || !plans[chosen[i]].may_win) continue;
    if (is_tied(lanes[i].lane, lanes[best].lane) && plans[chosen[i]].steps < plans[chosen[winner]].steps) winner = i;
  }
  return winner;
}

/// Nothing when fewer rounds had both than a median takes.
std::optional<Ratio> ratio_of(const RaceLane& slow, const RaceLane& fast) {
  if (std::min(slow.samples_ns.size(), fast.samples_ns.size()) < kFewestRounds) return std::nullopt;
  return paired_ratio(slow, fast);
}

/// What the rounds say of the winner against the others that ran in them.
void tell_apart(const std::vector<std::size_t>& chosen, const std::vector<ConfirmLane>& lanes, std::size_t winner,
                GuardVerdict& verdict) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    verdict.against[chosen[i]] = i == winner ? Verdict::kSame : likely_verdict(lanes[winner].lane, lanes[i].lane);
    if (i != winner) verdict.ratios[chosen[i]] = ratio_of(lanes[i].lane, lanes[winner].lane);
  }
}

/// The heat's word on those that came no further.
void add_heat_ratios(const std::vector<ConfirmLane>& heat, GuardVerdict& verdict) {
  for (std::size_t e = 0; e < heat.size(); ++e)
    if (e != verdict.winner && !verdict.ratios[e] && verdict.median_ns[e] > 0)
      verdict.ratios[e] = ratio_of(heat[e].lane, heat[verdict.winner].lane);
}

std::vector<std::size_t> indices_of(const std::vector<PlanToJudge>& plans) {
  std::vector<std::size_t> all(plans.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

ConfirmRequest final_request(const std::vector<PlanToJudge>& plans, const std::vector<std::size_t>& chosen,
                             const GuardOptions& options) {
  ConfirmRequest request = request_for(plans, chosen, options);
  request.decided_rounds = kDecidedRounds;
  request.seconds = options.final_seconds;
  request.min_rounds = options.final_rounds;
  request.most_seconds = most_seconds(options, kFinalTimeShare);
  return request;
}

Error no_plan_runs(const GuardVerdict& verdict) {
  return {.code = kNothingRuns,
          .where = "confirm",
          .saw = verdict.failures.empty() ? "no plan" : verdict.failures.front(),
          .allowed = "at least one plan that runs",
          .exit = ExitCode::kUnsupported};
}

/// A final of all plans.
Result<void> judge_at_once(const std::vector<PlanToJudge>& plans, const GuardOptions& options,
                           const ConfirmRun& confirm, GuardVerdict& verdict) {
  const std::vector<std::size_t> all = indices_of(plans);
  COLLAGE_TRY(const std::vector<ConfirmLane> lanes,
              compare(plans, all, final_request(plans, all, options), confirm, options.apart, verdict));
  const auto winner = simplest_of_the_best(plans, all, lanes);
  if (!winner) return std::unexpected(no_plan_runs(verdict));
  verdict.winner = *winner;
  tell_apart(all, lanes, *winner, verdict);
  return {};
}

Json ratios_to_json(const std::vector<std::optional<Ratio>>& ratios) {
  Json list = Json::array();
  for (const auto& one : ratios) list.push_back(one ? Json{one->ratio, one->low, one->high} : Json());
  return list;
}

std::vector<std::optional<Ratio>> ratios_from(const Json& list) {
  std::vector<std::optional<Ratio>> ratios;
  for (const Json& one : list) {
    ratios.emplace_back();
    if (!one.is_null()) ratios.back() = Ratio{.ratio = one.at(0), .low = one.at(1), .high = one.at(2)};
  }
  return ratios;
}

}  // namespace

Result<GuardVerdict> judge(const std::vector<PlanToJudge>& plans, const GuardOptions& options,
                           const ConfirmRun& confirm) {
  GuardVerdict verdict;
  verdict.median_ns.resize(plans.size());
  verdict.step_ns.resize(plans.size());
  verdict.failures.resize(plans.size());
  verdict.against.resize(plans.size());
  verdict.ratios.resize(plans.size());
  if (!options.has_heat && plans.size() <= kMostFinalists) {
    COLLAGE_TRY_VOID(judge_at_once(plans, options, confirm, verdict));
    return verdict;
  }
  const std::vector<std::size_t> all = indices_of(plans);
  ConfirmRequest heat = request_for(plans, all, options);
  heat.seconds = options.heat_seconds;
  heat.min_rounds = options.heat_rounds;
  heat.decided_rounds = kDecidedRounds;
  heat.most_seconds = most_seconds(options, kHeatShare);
  const Clock::time_point begin = Clock::now();
  COLLAGE_TRY(const std::vector<ConfirmLane> lanes, compare(plans, all, heat, confirm, options.apart, verdict));
  const std::chrono::nanoseconds heat_took = Clock::now() - begin;
  const std::vector<double> heat_times = relative_times(lanes);
  // One final, unless there is no time for it, or all its plans fail in it: then those behind them in the heat have
  // theirs.
  for (;;) {
    const std::vector<std::size_t> chosen = finalists(plans, verdict, heat_times);
    if (chosen.empty()) return std::unexpected(no_plan_runs(verdict));
    verdict.winner = chosen.front();
    tell_apart(all, lanes, verdict.winner, verdict);
    if (chosen.size() == 1) return verdict;
    // A final loads its plans again; it takes as long as the heat at least.
    if (!options.has_final || is_late(options, heat_took)) {
      verdict.winner = simplest_of_the_best(plans, all, lanes).value_or(verdict.winner);
      tell_apart(all, lanes, verdict.winner, verdict);
      return verdict;
    }
    ConfirmRequest last = final_request(plans, chosen, options);
    for (PlanToTime& plan : last.plans) plan.is_right = true;  // else it had no times in the heat
    const auto final_lanes = compare(plans, chosen, last, confirm, options.apart, verdict);
    if (!final_lanes) return verdict;  // interrupted: the heat decides
    if (const auto winner = simplest_of_the_best(plans, chosen, *final_lanes)) {
      verdict.winner = chosen[*winner];
      tell_apart(chosen, *final_lanes, *winner, verdict);
      add_heat_ratios(lanes, verdict);
      return verdict;
    }
  }
}

Result<GuardVerdict> judge(const std::vector<PlanToJudge>& plans, const GuardOptions& options, WorkerProcess& worker) {
  return judge(plans, options,
               [&](const ConfirmRequest& request) { return confirm(worker, request, options.stop, options.patience); });
}

std::string to_json(const GuardVerdict& verdict) {
  Json against = Json::array();
  for (const Verdict one : verdict.against) against.push_back(name_of(one));
  return to_line(Json{{"winner", verdict.winner},
                      {"against", against},
                      {"ratios", ratios_to_json(verdict.ratios)},
                      {"median_ns", verdict.median_ns},
                      {"step_ns", verdict.step_ns},
                      {"failures", verdict.failures},
                      {"seconds", verdict.seconds},
                      {"write_s_per_byte", verdict.write_s_per_byte}});
}

Result<GuardVerdict> guard_verdict_from(const std::string& json) {
  COLLAGE_TRY(const Json object, parse_json(json, "stored verdict"));
  COLLAGE_TRY(GuardVerdict verdict, read_json("stored verdict", [&] {
                GuardVerdict read{.winner = object.at("winner").get<std::size_t>(),
                                  .median_ns = object.at("median_ns").get<std::vector<std::int64_t>>(),
                                  .step_ns = object.at("step_ns").get<std::vector<std::vector<std::int64_t>>>(),
                                  .failures = object.at("failures").get<std::vector<std::string>>(),
                                  .against = {},
                                  .ratios = ratios_from(object.at("ratios")),
                                  .seconds = object.value("seconds", 0.0),
                                  .write_s_per_byte = object.value("write_s_per_byte", 0.0)};
                for (const Json& name : object.at("against"))
                  read.against.push_back(verdict_named(name.get<std::string>()).value_or(Verdict::kUnsure));
                return read;
              }));
  const std::size_t entries = verdict.median_ns.size();
  if (verdict.winner >= entries || verdict.step_ns.size() != entries || verdict.failures.size() != entries ||
      verdict.against.size() != entries || verdict.ratios.size() != entries)
    return fail(ExitCode::kBug, "measure/malformed-json", "stored verdict", "lists of different lengths",
                "one of each for every entry");
  return verdict;
}

}  // namespace collage
