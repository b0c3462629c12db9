// Backends are tried in a worker before the tuner itself makes and asks them: what starts a library, and what decides
// which regions it takes, is third-party code too, and may crash, hang or change the process it runs in.
// In: instances, perhaps a graph. Out: those that must be left out, and why.
// How: a probe makes the instance, reads what it says of itself and asks it about a small region; a rehearsal proposes
// the whole graph to it. The tuner then repeats what went well.
// Not here: instances that are missing or say themselves that they cannot be used: their own word is heard later.
// Cost: the start of the libraries, which the worker needs anyway; a rehearsal what proposing costs.
#pragma once

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "worker/worker.h"
#include "worker/worker_process.h"

namespace collage {

struct RehearsalRequest {
  std::vector<std::string> backends;  ///< instances
  std::string graph_file;             ///< proposed to each; empty = a probe only
  CompileOptions compile;
  std::chrono::nanoseconds limit = std::chrono::seconds(60);  ///< for one stage of one instance
  std::stop_token stop;
};

/// By instance. A worker that dies costs the instance at work; the others are tried in the next one.
/// Error worker/cannot-start, or of a graph that cannot be read. A stop ends it with what is known.
[[nodiscard]] Result<std::map<std::string, Refusal>> rehearse(WorkerProcess& worker, const RehearsalRequest& request);

/// The job, for worker_main.
[[nodiscard]] Handler rehearsal_handler();

}  // namespace collage
