// The bounded queue of a model: requests wait here for a worker, in the order in which they came.
// In:  requests from any thread. Out: to workers, one request or several that are run at once.
// How: one mutex. A request that waits past its deadline is taken out by its own thread, so that nobody computes it.
// Threads: all functions may be called from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "serve/pending_request.h"

namespace collage {

/// Whether a request joins those that are taken already; they are run at once then.
using Joins = std::function<bool(const std::vector<PendingRequest*>& taken, const PendingRequest& next)>;

struct JoinPolicy {
  Joins joins;  ///< null = each request runs alone
  /// Whether these fill a run: no more are looked for.
  std::function<bool(const std::vector<PendingRequest*>& taken)> is_full;
  std::chrono::microseconds delay{0};  ///< how long the first of them waits for others, at most, within all deadlines
};

class RequestQueue {
 public:
  explicit RequestQueue(std::size_t limit) : limit_(limit) {}

  /// Error serve/queue-full (limit) when so many wait already, serve/closing (limit) after close(). The request must
  /// live until wait() has returned.
  [[nodiscard]] Result<void> submit(PendingRequest& pending);
  /// Waits until a worker has finished the request. A request that no worker has taken at its deadline gets error
  /// serve/deadline (limit).
  void wait(PendingRequest& pending);

  /// Waits for requests; those returned are run at once. Empty when the queue is closed and nothing is left.
  [[nodiscard]] std::vector<PendingRequest*> take(const JoinPolicy& policy);
  /// The request has its outputs or its error.
  void finish(PendingRequest& pending);

  /// No request is taken in from now on; those that wait are still run.
  void close();

  [[nodiscard]] std::size_t size() const;

 private:
  void join_more(const JoinPolicy& policy, std::vector<PendingRequest*>& taken);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<PendingRequest*> waiting_;
  bool is_closed_ = false;
};

}  // namespace collage
