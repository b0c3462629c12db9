// Compiles candidates ahead of their turns on all processors, each in a worker of its own, so that they are timed one
// after the other without waiting for a compiler.
// In:  jobs of Effort::kCompile, one candidate each. Out: the hashes of their artifacts.
// How: whatever goes wrong here is not told: the candidate is compiled again when its turn comes, where a refusal or a
//      death has its consequences.
// Cost: the workers are started once, and wait without computing between batches.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "measure/jobs.h"
#include "worker/worker_process.h"

namespace collage {

/// One thread.
class BatchCompiler {
 public:
  explicit BatchCompiler(std::vector<std::string> worker_command) : command_(std::move(worker_command)) {}

  /// By job; empty where nothing came of it.
  [[nodiscard]] std::vector<std::string> compile(std::span<const PriceJob> jobs, const Allowance& allowance,
                                                 const std::stop_token& stop);

 private:
  std::vector<std::string> command_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace collage
