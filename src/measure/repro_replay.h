// Replays a reproduction bundle: compiles, loads, checks and times the candidate again in a worker.
// In:  a bundle and backends. Out: for each backend, the result now and the recorded one.
// Cost: that of pricing one candidate for each backend; a hang takes the time limit in the bundle.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "measure/repro_bundle.h"
#include "region/cost.h"

namespace collage {

struct ReplayOptions {
  std::vector<std::string> worker_command;        ///< argv that starts a worker; the socket's number is appended
  std::vector<std::string> backends;              ///< empty: the one that failed
  std::optional<std::chrono::nanoseconds> limit;  ///< for a hang, in place of the bundle's limits
  std::stop_token stop;
};

enum class ReplayVerdict : std::uint8_t {
  kPasses,  ///< right numbers
  kSame,    ///< fails for the recorded reason
  kOther    ///< fails, or refuses, for another reason
};

/// "passes", "same" or "other".
[[nodiscard]] std::string_view name_of(ReplayVerdict verdict);

struct Replay {
  std::string backend;  ///< instance
  std::string version;
  std::string build;
  std::string variant;
  ReplayVerdict verdict = ReplayVerdict::kPasses;
  std::optional<Refusal> refusal;    ///< when it does not pass
  std::string stage;                 ///< likewise
  std::optional<Measured> measured;  ///< when it does
};

struct ReplayReport {
  std::string folder;
  ReproBundle recorded;
  std::vector<Replay> replays;
  bool passes = true;  ///< all of them
};

/// Another backend than the recorded one runs its first variant with plain formats. Errors of read_bundle;
/// backend/missing and backend/unusable, worker/cannot-start, io/cannot-write, measure/stopped.
[[nodiscard]] Result<ReplayReport> replay_bundle(const std::string& folder, const ReplayOptions& options,
                                                 Registry& registry);

/// For people, and the JSON object of `repro --json` (schema collage.replay/1).
[[nodiscard]] std::string to_text(const ReplayReport& report);
[[nodiscard]] std::string to_json(const ReplayReport& report);

}  // namespace collage
