// What a tune asks its workers to do besides pricing: run a whole model once, compile one as a rival, time plans.
#pragma once

#include <string>
#include <vector>

#include "measure/worker.h"
#include "measure/worker_process.h"
#include "tune/confirm.h"

namespace collage {

/// Runs a whole model in an engine and keeps its outputs as a record.
struct EvaluateJob {
  std::string graph;    ///< graph file
  std::string model;    ///< file of ONNX bytes to run instead of the graph; "" = the graph
  std::string engine;   ///< instance name
  std::string inputs;   ///< record of the inputs by name; "" when the graph has none
  std::string outputs;  ///< record to write
};

/// Compiles a whole model in an engine as the artifact of a one-step plan.
struct CompileModelJob {
  std::string graph;
  std::string model;
  std::string engine;
  std::string folder;  ///< of artifact files
  int threads = 1;
};

/// The handlers of this folder, for worker_main.
[[nodiscard]] std::vector<Handler> tune_handlers();

// The supervisor's side. A dead worker is error worker/died.
[[nodiscard]] Result<void> evaluate(WorkerProcess& worker, const EvaluateJob& job);
/// The artifact's content hash.
[[nodiscard]] Result<std::string> compile_model(WorkerProcess& worker, const CompileModelJob& job);
[[nodiscard]] Result<std::vector<ConfirmLane>> confirm(WorkerProcess& worker, const ConfirmRequest& request,
                                                       std::stop_token stop);

}  // namespace collage
