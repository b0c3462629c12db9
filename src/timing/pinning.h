// Pins the calling thread to its current processors while it measures.
// Threads that are created meanwhile inherit the restriction, so a library must have created its threads before. Work
// that needs all processors of the process is not pinned.
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
