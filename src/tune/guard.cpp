#include "tune/guard.h"

#include <algorithm>
#include <optional>

#include "measure/json.h"
#include "tune/jobs.h"

namespace collage {
namespace {

/// Entries slower than the best of the heat by this factor do not come to the final.
constexpr double kFinalShare = 1.15;
constexpr std::size_t kMostFinalists = 6;

ConfirmRequest request_for(const std::vector<GuardEntry>& entries, const std::vector<std::size_t>& chosen,
                           const GuardOptions& options) {
  ConfirmRequest request;
  for (std::size_t e : chosen) request.contenders.push_back({.name = entries[e].name, .plan = entries[e].plan});
  request.inputs = options.inputs;
  request.expected = options.expected;
  request.accuracy = options.accuracy;
  request.threads = options.threads;
  request.seed = options.seed;
  return request;
}

void keep(GuardVerdict& verdict, const std::vector<std::size_t>& chosen, std::vector<ConfirmLane>& lanes) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    verdict.median_ns[chosen[i]] = lanes[i].lane.median_ns();
    verdict.step_ns[chosen[i]] = lanes[i].step_ns;
    verdict.failures[chosen[i]] = lanes[i].failure;
  }
}

/// A worker that dies with everything loaded is tried again with each entry alone, so that one costs only itself.
Result<std::vector<ConfirmLane>> confirm_or_isolate(const std::vector<GuardEntry>& entries,
                                                    const std::vector<std::size_t>& chosen,
                                                    const ConfirmRequest& request, const GuardOptions& options,
                                                    WorkerProcess& worker) {
  auto together = confirm(worker, request, options.stop, options.patience);
  if (together || together.error().exit == ExitCode::kInterrupted) return together;
  std::vector<ConfirmLane> lanes;
  for (std::size_t e : chosen) {
    ConfirmRequest alone = request;
    alone.contenders = {{.name = entries[e].name, .plan = entries[e].plan}};
    auto lane = confirm(worker, alone, options.stop, options.patience);
    if (!lane && lane.error().exit == ExitCode::kInterrupted) return std::unexpected(lane.error());
    if (lane) {
      lanes.push_back(std::move(lane->front()));
    } else {
      lanes.push_back(
          {.lane = {.name = entries[e].name, .samples_ns = {}}, .step_ns = {}, .failure = to_string(lane.error())});
    }
  }
  return lanes;
}

std::vector<std::size_t> finalists(const std::vector<GuardEntry>& entries, const GuardVerdict& verdict) {
  std::vector<std::size_t> running;
  for (std::size_t e = 0; e < entries.size(); ++e)
    if (verdict.median_ns[e] > 0) running.push_back(e);
  std::sort(running.begin(), running.end(),
            [&](std::size_t a, std::size_t b) { return verdict.median_ns[a] < verdict.median_ns[b]; });
  std::vector<std::size_t> result;
  for (std::size_t e : running) {
    const bool near = static_cast<double>(verdict.median_ns[e]) <=
                      kFinalShare * static_cast<double>(verdict.median_ns[running.front()]);
    if (near && result.size() < kMostFinalists) result.push_back(e);
  }
  return result;
}

/// Among those that cannot be told apart from the fastest, the one with the fewest steps; nothing when none ran.
std::optional<std::size_t> simplest_of_the_best(const std::vector<GuardEntry>& entries,
                                                const std::vector<std::size_t>& chosen,
                                                const std::vector<ConfirmLane>& lanes) {
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (!lanes[i].lane.samples_ns.empty()) alive.push_back(i);
  if (alive.empty()) return std::nullopt;
  const std::size_t best =
      *std::ranges::min_element(alive, {}, [&](std::size_t i) { return lanes[i].lane.median_ns(); });
  std::size_t winner = best;
  for (const std::size_t i : alive) {
    const bool tied = paired_ratio(lanes[i].lane, lanes[best].lane).low <= 1.0;
    if (tied && entries[chosen[i]].steps < entries[chosen[winner]].steps) winner = i;
  }
  return chosen[winner];
}

}  // namespace

Result<GuardVerdict> judge(const std::vector<GuardEntry>& entries, const GuardOptions& options, WorkerProcess& worker) {
  GuardVerdict verdict;
  verdict.median_ns.resize(entries.size());
  verdict.step_ns.resize(entries.size());
  verdict.failures.resize(entries.size());
  std::vector<std::size_t> all(entries.size());
  for (std::size_t e = 0; e < all.size(); ++e) all[e] = e;
  ConfirmRequest heat = request_for(entries, all, options);
  heat.seconds = options.heat_seconds;
  heat.min_rounds = 5;
  COLLAGE_TRY(std::vector<ConfirmLane> lanes, confirm_or_isolate(entries, all, heat, options, worker));
  keep(verdict, all, lanes);
  // One final, unless all its entries fail in it: then those behind them in the heat have theirs.
  for (;;) {
    const std::vector<std::size_t> chosen = finalists(entries, verdict);
    if (chosen.empty())
      return fail(ExitCode::kUnsupported, "tune/nothing-runs", "confirm",
                  verdict.failures.empty() ? "no plan" : verdict.failures.front(), "at least one plan that runs");
    verdict.winner = chosen.front();
    if (chosen.size() == 1) return verdict;
    ConfirmRequest last = request_for(entries, chosen, options);
    last.seconds = options.final_seconds;
    last.min_rounds = 15;
    auto final_lanes = confirm_or_isolate(entries, chosen, last, options, worker);
    if (!final_lanes) return verdict;  // interrupted: the heat decides
    keep(verdict, chosen, *final_lanes);
    if (const auto winner = simplest_of_the_best(entries, chosen, *final_lanes)) {
      verdict.winner = *winner;
      return verdict;
    }
  }
}

std::string to_json(const GuardVerdict& verdict) {
  return to_line(Json{{"winner", verdict.winner},
                      {"median_ns", verdict.median_ns},
                      {"step_ns", verdict.step_ns},
                      {"failures", verdict.failures}});
}

Result<GuardVerdict> guard_verdict_from(const std::string& json) {
  COLLAGE_TRY(const Json object, parse_json(json, "stored verdict"));
  COLLAGE_TRY(GuardVerdict verdict, read_json("stored verdict", [&] {
                return GuardVerdict{.winner = object.at("winner").get<std::size_t>(),
                                    .median_ns = object.at("median_ns").get<std::vector<std::int64_t>>(),
                                    .step_ns = object.at("step_ns").get<std::vector<std::vector<std::int64_t>>>(),
                                    .failures = object.at("failures").get<std::vector<std::string>>()};
              }));
  const std::size_t entries = verdict.median_ns.size();
  if (verdict.winner >= entries || verdict.step_ns.size() != entries || verdict.failures.size() != entries)
    return fail(ExitCode::kBug, "measure/malformed-json", "stored verdict", "lists of different lengths",
                "one of each for every entry");
  return verdict;
}

}  // namespace collage
