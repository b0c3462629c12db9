// Jobs that a tune gives to its workers, other than pricing (measure/jobs.h) and rehearsal (rehearsal.h): record a run,
// compile a whole model as a rival, time plans.
// In:  files and options. Out: files, times, or the worker's error.
// Cost: one message to a worker each.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "measure/jobs.h"
#include "tune/confirm/confirm.h"
#include "tune/confirm/step_effects.h"
#include "tune/shapes/shape_samples.h"
#include "worker/worker.h"
#include "worker/worker_process.h"

namespace collage {

/// Compiles a whole model in an engine as the artifact of a one-step plan.
struct CompileModelJob {
  std::string graph;
  std::string model;
  std::string engine;
  std::string folder;  ///< of artifact files
  int threads = 1;
  ShapeDomain domain = {};                ///< of open dimensions: for backends that compile kernels for parts of it
  std::vector<ShapeSample> samples = {};  ///< of the domain, that count as their weights say
};

/// The handlers of this folder, for worker_main.
[[nodiscard]] std::vector<Handler> tune_handlers();

// The supervisor's side. A dead worker is error worker/died.
[[nodiscard]] Result<void> record(WorkerProcess& worker, const RecordJob& job);
/// The artifact's content hash.
[[nodiscard]] Result<std::string> compile_model(WorkerProcess& worker, const CompileModelJob& job,
                                                std::stop_token stop = {});
/// By step of the request: the share of the bound (tune/confirm/step_effects.h).
[[nodiscard]] Result<std::vector<double>> step_effects(WorkerProcess& worker, const StepEffectsRequest& request);
[[nodiscard]] Result<std::vector<ConfirmLane>> confirm(WorkerProcess& worker, const ConfirmRequest& request,
                                                       std::stop_token stop, std::chrono::nanoseconds patience);

}  // namespace collage
