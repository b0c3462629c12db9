// Checks whether a plan still fits: on another machine, with another build of a library, or whenever the user asks.
// In:  a plan. Out: same, usable, re-tune or refused, with the parts that became slower.
// How: the machine and builds named in the plan are compared with the present ones. If something differs, a worker
//       compares the numbers with the reference, then times the whole plan and its main steps. Each step is loaded from
//       the plan's own artifact and runs on inputs that the reference computes for it.
// Cost: nothing when nothing differs; else two runs of the reference and three rounds over at most 16 steps.
// Not here: the verdict on times (recheck_verdict.h), numbers on many inputs (verify.h).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/tune/recheck_verdict.h"
#include "backend/registry.h"
#include "plan/plan.h"
#include "plan/signature/key.h"
#include "region/value_json.h"
#include "sandbox/model_reader.h"
#include "worker/worker.h"

namespace collage {

struct RecheckOptions {
  std::string plan;
  Signers signers = {};              ///< one of them must have signed the plan; empty = no signature is asked for
  std::optional<std::string> model;  ///< the model's present path; default: the path in the plan
  ModelReader reader = {};           ///< of the model
  bool always = false;               ///< measures even if nothing differs
  std::uint64_t seed = 1;
  std::vector<std::string> worker_command;  ///< argv that starts a worker; the socket's number is appended
  std::stop_token stop;
};

/// One main step, or the plan as a whole.
struct RecheckedPart {
  std::string what;  ///< "the whole plan", "step 3, BACKEND/VARIANT at NODE"
  std::optional<std::size_t> step;
  std::string backend;
  std::string variant;
  std::int64_t then_ns = 0;  ///< 0: the plan does not say
  std::int64_t now_ns = 0;   ///< 0: not timed
  std::string failure;       ///< why it was not, or what was wrong with its numbers
};

enum class Numbers : std::uint8_t { kNotChecked, kEqual, kDifferent };
/// "not checked", "equal" or "different".
[[nodiscard]] std::string_view name_of(Numbers numbers);

struct RecheckReport {
  std::string plan;
  Fitness fitness = Fitness::kSame;
  bool measured = false;
  std::vector<std::string> differences;  ///< between the plan's machine and builds and those here
  Numbers numbers = Numbers::kNotChecked;
  TimesVerdict times;
  std::vector<RecheckedPart> parts;
  std::vector<std::string> notes;
  bool cannot_run = false;  ///< refused because something is missing here, not because of its numbers
};

/// Errors of load_plan, worker/cannot-start, measure/stopped. What is wrong with the plan here is its verdict.
[[nodiscard]] Result<RecheckReport> recheck(const RecheckOptions& options, Registry& registry);

/// The worker's side: what serves the job "recheck".
[[nodiscard]] Handler recheck_handler();

/// One line for a user who loads a plan on another machine, with the command to run; empty when nothing differs.
[[nodiscard]] std::string recheck_hint(const std::string& path, const Plan& plan, Registry& registry);

/// For people, and the JSON object of `recheck --json` (schema collage.recheck/1).
[[nodiscard]] std::string to_text(const RecheckReport& report);
[[nodiscard]] std::string to_json(const RecheckReport& report);

}  // namespace collage
