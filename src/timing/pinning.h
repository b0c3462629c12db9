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
  /// Pins to `threads` of the allowed processors, including the current one; 0 = not at all. For a short time only: in
  /// between, the system must be able to move the thread to another processor.
  explicit PinnedThread(int threads);
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;
  ~PinnedThread();

 private:
  cpu_set_t before_{};
  bool is_pinned_ = false;
};

}  // namespace collage
