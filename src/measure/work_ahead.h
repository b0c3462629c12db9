// Compiles and verifies candidates ahead of their turns on all processors, each in a worker of its own. So they are
// timed one after the other without waiting for a compiler or for the reference.
// In:  jobs of one candidate each that time nothing.
// Out: the answers of those that are right or give wrong numbers, and which candidates hang.
// How: other failures are not told. The candidate is tried again when its turn comes, and a refusal or a death has its
//      consequences then.
// Cost: the workers are started once, and wait without computing between batches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "measure/jobs.h"
#include "worker/worker_process.h"

namespace collage {

/// Neither, where the job was refused for another reason, where nothing came of it, or after the time limit.
struct WorkedAhead {
  std::optional<CandidateAnswer> answer = std::nullopt;  ///< refused only for its numbers: another try gives the same
  std::optional<Death> hang = std::nullopt;              ///< of the candidate: trying it again would take as long
};

/// One thread.
class WorkersAhead {
 public:
  explicit WorkersAhead(std::vector<std::string> worker_command) : command_(std::move(worker_command)) {}

  /// How many jobs run at once when each computes with so many threads.
  [[nodiscard]] std::size_t width(int threads) const;
  /// By job. Begins none after `until`. At most `width` run at once.
  [[nodiscard]] std::vector<WorkedAhead> run(std::span<const PriceJob> jobs, std::size_t width,
                                             const Allowance& allowance, Clock::time_point until,
                                             const std::stop_token& stop);
  /// Ends the workers: the next jobs are done by processes in which nothing ran before.
  void leave() { workers_.clear(); }

 private:
  std::vector<std::string> command_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace collage
