// Tries backends in a worker before this process makes them: what starts a library, and what decides which regions
// it takes, is third-party code that may crash, hang or change the process it runs in.
// In: instances, perhaps a graph. Out: those that must be left out, and why; what the others proposed.
// How: a probe makes the instance, reads its info and asks it about a small region; a rehearsal proposes the whole
// graph to it. Who went well there is then made here; what it proposed is not asked again.
// Not here: instances that are missing or report themselves unusable; the registry says so later.
// Cost: the start of the libraries, which the worker needs anyway; a rehearsal also what proposing costs.
#pragma once

#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "region/candidates.h"
#include "worker/worker.h"
#include "worker/worker_process.h"

namespace collage {

struct RehearsalRequest {
  std::vector<std::string> backends;  ///< instances
  std::string graph_file;             ///< proposed to each; empty = a probe only
  std::string folder;                 ///< where proposals are kept; empty = they are not
  CompileOptions compile;
  std::chrono::nanoseconds limit = std::chrono::seconds(60);  ///< for one stage of one instance
  std::stop_token stop;
};

/// By instance.
struct Rehearsed {
  std::map<std::string, Refusal> refused;        ///< to be left out
  std::map<std::string, std::string> proposals;  ///< files of those that went well, for read_proposals()
};

/// A worker that dies costs the instance at work; the others are tried in the next one.
/// Error worker/cannot-start, or of a graph that cannot be read. A stop ends it with what is known.
[[nodiscard]] Result<Rehearsed> rehearse(WorkerProcess& worker, const RehearsalRequest& request);

/// What an instance proposed alone for the graph in the request's file. Errors io/cannot-read,
/// measure/malformed-json.
[[nodiscard]] Result<CandidatePool> read_proposals(const std::string& file, const Graph& graph, const Uses& uses);

/// The job, for worker_main.
[[nodiscard]] Handler rehearsal_handler();

}  // namespace collage
