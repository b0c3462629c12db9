// A fixed computation whose time shows how fast the processor is at the moment. When the clock frequency changes or
// another virtual machine takes cycles, it slows down together with the kernel that is being timed. The kernel's time
// can so be corrected for the cause, never because of its value.
#pragma once

#include <cstdint>
#include <vector>

namespace collage {

/// One per process and thread. Each measurement takes a few microseconds.
class Canary {
 public:
  /// The present time of the computation divided by the least time seen so far; 1 in a quiet moment.
  [[nodiscard]] double slowness();

  /// The least time seen, to be passed to a canary of the same program in another process.
  [[nodiscard]] std::int64_t quiet_ns() const { return quiet_ns_; }
  void learn(std::int64_t quiet_ns);

 private:
  [[nodiscard]] std::int64_t work_ns() const;

  std::vector<float> table_ = std::vector<float>(2048, 1.0F);  ///< fits the first cache
  std::int64_t quiet_ns_ = 0;
};

/// Measures repeatedly until the slowness is at most `most`; gives up when `patience_ns`, from which the time spent is
/// subtracted, is used up.
void wait_for_quiet(Canary& canary, double most, std::int64_t& patience_ns);

}  // namespace collage
