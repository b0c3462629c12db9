// The worker's side: a process that executes jobs of a supervisor one after the other, and may crash in them.
// In:  frames with jobs, JSON objects with a "type". Out: one frame for each job: the answer of the handler of that
//       type, or an Error.
// Third-party code runs only here. Before each step that may crash or hang, a handler reports what it is about to do,
// so that the supervisor knows which candidate is responsible. The process ends when the socket is closed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "backend/registry.h"
#include "base/json.h"

namespace collage {

/// What a job's handler may use. One thread.
class JobContext {
 public:
  JobContext(int socket, int status, Registry& registry) : socket_(socket), status_(status), registry_(registry) {}

  [[nodiscard]] Registry& registry() { return registry_; }
  /// The one begun last.
  [[nodiscard]] const std::string& stage() const { return stage_; }

  /// Tells the supervisor that `stage` of `candidate` begins and how long it is expected to take, 0 when unknown. The
  /// supervisor's clock starts anew. Wakes the supervisor: not between timed samples.
  void begin(const std::string& stage, std::int32_t candidate, std::int64_t expected_ns = 0);
  /// What the supervisor says to a question: its answer or its error. Errors frame/* when it says nothing.
  [[nodiscard]] Result<Json> ask(const Json& question);
  /// Records that `candidate` is running from now on; -1: none. Costs one system call and wakes no process.
  void mark(std::int32_t candidate);

 private:
  int socket_;
  int status_;
  Registry& registry_;
  std::string stage_;
};

struct Handler {
  std::string type;
  std::function<Result<Json>(const Json& job, JobContext& context)> run;
};

/// Executes jobs from `socket` until it is closed; returns the exit status of the process. `socket + 1` is the status
/// file of worker_process.h when the supervisor passed one. Sets limits for the whole process: no core dumps, no
/// network, first to be killed when memory runs out, killed together with its process group when the supervisor dies.
int worker_main(int socket, Registry& registry, std::span<const Handler> handlers);

}  // namespace collage
