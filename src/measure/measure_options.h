// How candidates are measured and for how long: options that a tune passes on to its jobs unchanged.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/clock.h"

namespace collage {

/// The same for all parts of a tune.
struct MeasureOptions {
  std::vector<std::string> worker_command;  ///< argv that starts a worker; the socket's number is appended
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;
  std::uint64_t seed = 1;
  std::chrono::nanoseconds compile_limit = std::chrono::seconds(60);  ///< for compiling one candidate
  std::chrono::nanoseconds run_limit = std::chrono::seconds(10);  ///< for running one, besides 20 x what is expected

  bool for_library = false;  ///< only what can be linked into a library of one model (src/export)

  [[nodiscard]] CompileOptions compile() const {
    return {.threads = threads, .accuracy = accuracy, .linkable = for_library};
  }
};

/// The graph that candidates are parts of, as workers read it.
struct MeasuredGraph {
  std::string graph_file;   ///< of write_graph_file
  std::string record_file;  ///< of a record job on that graph
  std::string model = {};   ///< file name of the user's model, to describe regions in the store
};

/// Until when something is measured.
struct MeasureLimits {
  /// Past it only conversions and regions of a single node are measured, so that a cover exists.
  Clock::time_point deadline = Clock::time_point::max();
  /// Past it nothing is.
  Clock::time_point latest = Clock::time_point::max();
  std::stop_token stop = {};  ///< ends the work within about 100 ms
  /// What should save less than this part of the best cover's time is not measured for its own sake.
  double least_saving = 0.001;
};

/// The same without any time left: the store alone answers.
[[nodiscard]] inline MeasureLimits without_time(const MeasureLimits& limits) {
  const Clock::time_point past = Clock::now() - std::chrono::seconds(1);
  return {.deadline = past, .latest = past, .stop = limits.stop};
}

}  // namespace collage
