// The guard decides which plan ships, by timing the plan files of covers and of whole-model rivals end to end.
// In:  plan files, rounds. Out: the winner, the times of all, and whether the difference is significant.
// How: a heat over all plans, then a final among those close to the best. Plans whose difference from the fastest
//       is not significant are tied; of these the one with the fewest steps wins. Few plans that are near each other
//       have a final only.
// Cost: the given seconds.
// Not here: measuring (confirm.h), storing the verdict (contest.h).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/progress.h"
#include "store/store.h"
#include "tune/confirm/isolate.h"
#include "worker/worker_process.h"

namespace collage {

/// A plan with what decides beside its times.
struct PlanToJudge {
  PlanToTime timed;
  std::size_t steps = 0;
  std::int64_t extra_ns = 0;  ///< added to each of its times when plans are compared: what its memory costs
  bool may_win = true;        ///< else only compared with the winner
};

struct GuardOptions {
  std::string inputs;                    ///< record
  std::string expected;                  ///< record of the model's outputs
  std::vector<CheckedInputs> more = {};  ///< as in ConfirmRequest
  std::string accuracy = "standard";
  int threads = 1;
  double heat_seconds = 1.5;      ///< first look at all plans
  double final_seconds = 8;       ///< those within 15 % of the best, and the rivals near it; less once all is decided
  std::size_t heat_rounds = 5;    ///< at least, however long they take
  std::size_t final_rounds = 15;  ///< likewise, unless all is decided before
  bool has_heat = true;           ///< else all plans come to the final, if they are few: none is far behind the others
  bool has_final = true;          ///< else the heat decides, by samples without runs to warm up (ConfirmRequest)
  std::chrono::nanoseconds patience = std::chrono::seconds(300);  ///< for one confirm job
  /// The rounds shrink so that they end before this, as far as loading the plans and the fewest rounds allow.
  std::optional<Clock::time_point> deadline;
  bool apart = false;  ///< plans whose backends cannot share a process: each is timed in one of its own
  std::uint64_t seed = 1;
  std::int64_t quiet_ns = 0;  ///< as in ConfirmRequest
  std::stop_token stop;
};

/// The error of a contest without any plan that gives the right numbers.
inline constexpr const char* kNothingRuns = "tune/nothing-runs";

struct GuardVerdict {
  std::size_t winner = 0;                          ///< index of the plans given
  std::vector<std::int64_t> median_ns;             ///< by plan; 0 = did not run
  std::vector<std::vector<std::int64_t>> step_ns;  ///< by plan: its steps in context
  std::vector<std::string> failures;               ///< by plan
  std::vector<Verdict> against;                    ///< by plan: the winner against it, kSame for the winner itself
  /// By plan: how many times faster the winner is, paired by round; nothing where too few rounds had both.
  std::vector<std::optional<Ratio>> ratios = {};
  double seconds = 0;           ///< that it took to say so, with writing the plans
  double write_s_per_byte = 0;  ///< of large plans; 0 = there were none
};

/// Error tune/nothing-runs when no plan gave the right numbers.
[[nodiscard]] Result<GuardVerdict> judge(const std::vector<PlanToJudge>& plans, const GuardOptions& options,
                                         const ConfirmRun& confirm);
/// The same with jobs for a worker.
[[nodiscard]] Result<GuardVerdict> judge(const std::vector<PlanToJudge>& plans, const GuardOptions& options,
                                         WorkerProcess& worker);

[[nodiscard]] std::string to_json(const GuardVerdict& verdict);
[[nodiscard]] Result<GuardVerdict> guard_verdict_from(const std::string& json);

}  // namespace collage
