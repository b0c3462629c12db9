// Tries backends in a worker before this process uses them. Starting a library, and asking which regions it supports,
// runs third-party code that may crash, hang or change its process.
// In:  instances, perhaps a graph. Out: the instances that must be excluded, and why; what the others proposed.
// How: a probe makes the instance, reads its info and asks it about a small region; a rehearsal proposes the whole
//       graph to it. Instances that succeeded are then made in this process, which uses their proposals and does not
//       ask again.
// Not here: instances that are missing or report themselves unusable; the registry reports those later.
// Cost: starting the libraries, which the worker needs anyway; for a rehearsal also that of proposing.
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
  std::string record_file;            ///< the recorded run of the graph; empty: none
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
