// A fixed computation (latency_loop.h) whose time shows how fast the processor's clock is at the moment. When its
// frequency changes, the computation slows down by the same factor as the kernel that is being timed. The kernel's time
// can so be corrected for the cause, never because of its value. Not here: other hardware threads of the core, which
// slow each kernel down by a factor of its own (smt_watch.h).
#pragma once

#include <cstdint>

namespace collage {

/// One per process and thread. Each measurement takes about two microseconds.
class Canary {
 public:
  /// The present time of the computation divided by the least time seen so far; 1 in a quiet moment.
  [[nodiscard]] double slowness();

  /// The least time seen, to be passed to a canary of the same program in another process.
  [[nodiscard]] std::int64_t quiet_ns() const { return quiet_ns_; }
  void learn(std::int64_t quiet_ns);

 private:
  std::int64_t quiet_ns_ = 0;
};

/// Measures repeatedly until the slowness is at most `most`; gives up when `patience_ns`, from which the time spent is
/// subtracted, is used up.
void wait_for_quiet(Canary& canary, double most, std::int64_t& patience_ns);

}  // namespace collage
