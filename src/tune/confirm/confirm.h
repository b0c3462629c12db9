// Times plan files against each other, end to end, in interleaved rounds in one worker process.
// In:  plan files and the recorded inputs. Out: samples by round, and the time of every step inside its plan. Both are
//       divided by the slowdown of the processor at that moment (timing/canary.h), like the costs of candidates.
// Cost: rounds x plans x time of a run.
// Source: see timing/race.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "timing/race.h"
#include "tune/confirm/bound_share.h"

namespace collage {

/// What the process that times plans is told of one. What decides between plans beside their times is PlanToJudge
/// (guard.h); the plan itself, with what all its rounds said, is a Contestant (contest.h).
struct PlanToTime {
  std::string name;
  std::string file;       ///< of the plan
  bool is_right = false;  ///< an earlier job has checked its outputs on all inputs: on the timed ones they are again
};

/// Inputs of a model and what the reference gives for them.
struct CheckedInputs {
  std::string inputs;    ///< a record holding every model input by name
  std::string expected;  ///< a record holding every model output by name
};

struct ConfirmRequest {
  std::vector<PlanToTime> plans;
  std::string inputs;                    ///< a record holding every model input by name
  std::string expected;                  ///< a record holding every model output by name; "" = outputs are not checked
  std::vector<CheckedInputs> more = {};  ///< on which outputs of plans with 16 bits are checked, too, before any timing
  std::string accuracy = "standard";     ///< the bound on the outputs (numbers/output_bound.h)
  int threads = 1;
  double seconds = 3;
  std::size_t min_rounds = 11;     ///< 0 = nothing is timed, outputs are checked only
  std::size_t decided_rounds = 0;  ///< as in RaceOptions, like
  double most_seconds = 0;         ///< this
  bool is_rough = false;           ///< no runs to warm up before a sample: to tell apart what differs by much
  int profile_runs = 7;            ///< that tell the times of single steps; 0 = they are not asked
  std::uint64_t seed = 1;
  std::int64_t quiet_ns = 0;  ///< the canary's (timing/canary.h), from pricing; 0 = not known
};

/// One plan's outcome: samples, or why it did not run.
struct ConfirmLane {
  RaceLane lane;
  std::vector<std::int64_t> step_ns;  ///< median of each step of the cover, in the plan
  std::string failure;                ///< empty when it ran and its outputs were right
  BoundShare share = {};              ///< of the bound on outputs
};

/// Loads and times the plans in this process.
[[nodiscard]] Result<std::vector<ConfirmLane>> confirm_here(const ConfirmRequest& request, Registry& registry);

// The same as a worker's job of type "confirm".
[[nodiscard]] nlohmann::json to_json(const ConfirmRequest& request);
[[nodiscard]] Result<ConfirmRequest> confirm_request_from(const nlohmann::json& json);
[[nodiscard]] nlohmann::json to_json(const std::vector<ConfirmLane>& lanes);
[[nodiscard]] Result<std::vector<ConfirmLane>> confirm_lanes_from(const nlohmann::json& json);

}  // namespace collage
