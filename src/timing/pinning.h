// Keeps the calling thread on the processors it is on, while it times something.
// Threads made meanwhile inherit it, so a library must have its threads before; what needs all processors of the
// process is not pinned.
// Source: sched_setaffinity(2).
#pragma once

#include <sched.h>

namespace collage {

/// Pins for its lifetime; does nothing where the system refuses.
class PinnedThread {
 public:
  /// To `threads` processors of those allowed, the one it runs on among them; 0 = not at all. For a short time only:
  /// the system must be free to move the thread away from others in between.
  explicit PinnedThread(int threads);
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  ~PinnedThread();

 private:
  cpu_set_t before_{};
  bool is_pinned_ = false;
};

}  // namespace collage
