// The supervisor's side of a worker: starts the process when it is first needed, and again after it has died.
// In:  a job. Out: the answer, or a Death that says which candidate was being processed and at which stage.
// A worker is spawned, never forked. It leads its own process group, its standard input and output are /dev/null, and
// its stderr is kept for messages. A crash, a hang, too much memory and a malformed answer all count as deaths.
// Processes that a worker started are killed with it even if they changed their group or session; they are recognised
// by a variable in their environment.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "region/refusal.h"
#include "worker/frame.h"
#include "worker/limits.h"

namespace collage {

/// In the worker: the first of the files that its supervisor gave it.
inline constexpr int kFirstFile = 5;

/// A worker that did not answer: kCrashed, kTimeout or kResources, and the candidate that was being processed.
struct Death {
  Refusal refusal;
  std::string stage;                      ///< the last one begun; empty when none
  std::optional<std::int32_t> candidate;  ///< the one recorded last; nothing when none was being processed
  bool stopped = false;                   ///< the caller's stop token, not the worker's fault
};

/// The step that a job announced.
struct JobProgress {
  std::string stage;
  std::int32_t candidate = -1;
  std::int64_t expected_ns = 0;
};

/// Time allowed until the next sign of life, given the last one (nothing yet: the start of the job).
using Allowance = std::function<std::chrono::nanoseconds(const std::optional<JobProgress>&)>;

/// What a supervisor says to a question of a job.
using Answerer = std::function<Result<Json>(const Json& question)>;

class WorkerProcess {
 public:
  /// `command` is the argv of the worker; the number of its socket is appended. Nothing is started yet. `files`: open
  /// descriptors, of the caller, that the worker gets as kFirstFile and those behind it.
  explicit WorkerProcess(std::vector<std::string> command, WorkerLimits limits = {}, std::vector<int> files = {});
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// Sends the job and waits for its answer. The outer value says whether the worker survived; the inner one is the
  /// handler's answer. After a Death nothing of the worker, nor what it started, is left. Inner error
  /// worker/cannot-start.
  /// One call at a time. Questions of the job are put to `answer`, and its time does not count.
  [[nodiscard]] std::expected<Result<Json>, Death> call(const Json& job, const Allowance& allowance,
                                                        std::stop_token stop = {}, const Answerer& answer = {});

  /// Ends the worker; the next call starts a new one.
  void stop();

  /// True when the worker holds so much memory that a new one should replace it.
  [[nodiscard]] bool is_bloated() const;
  [[nodiscard]] bool is_running() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  Result<void> start();
  void reply(const Frame& question, const Answerer& answer) const;
  Death reap(Refusal refusal, const std::string& stage);
  Death died(const std::string& stage);
  [[nodiscard]] std::string stderr_tail() const;
  [[nodiscard]] std::optional<std::int32_t> marked() const;
  /// True when a frame comes; false at the deadline, a stop or too much memory, looked for every 100 ms.
  Result<bool> wait(Clock::time_point deadline, const std::stop_token& stop);
  /// Looks at the worker's memory and shortens its messages, at most every 100 ms.
  void watch();
  /// Empties the messages when there are more than `most` bytes.
  void cut_messages(off_t most) const;

  std::vector<std::string> command_;
  WorkerLimits limits_;
  std::vector<int> files_;
  std::string mark_;                ///< in the environment of the worker and all it starts
  std::int64_t memory_limit_ = 0;   ///< bytes
  std::int64_t memory_ = 0;         ///< bytes that the worker used at the last check
  Clock::time_point watched_ = {};  ///< when that was
  pid_t pid_ = -1;
  int socket_ = -1;
  int status_ = -1;    ///< memory file holding the candidate at work
  int messages_ = -1;  ///< memory file that is the worker's stderr
};

/// Allows `start` until the first sign of life, then the larger of `floor` and 20 times what is expected; `compile` for
/// the stages called "compile" and "load": engines do their work in either.
[[nodiscard]] Allowance usual_allowance(std::chrono::nanoseconds start, std::chrono::nanoseconds compile,
                                        std::chrono::nanoseconds floor);

}  // namespace collage
