// Tells whether another hardware thread is at work on the core of the calling thread (simultaneous multithreading,
// SMT). Kernels then take up to twice as long, by how much depends on the kernel. In a virtual machine the other thread
// is often another guest's, which no counter of the system shows. How: two loops are timed. One needs the front end of
// the core in every cycle; hardware threads share the front end by
//      turns, so it takes about twice as long beside another one. The other waits for a chain of multiplications in
//      nearly every cycle and does not slow down. Their ratio is compared with the least one seen, which makes the
//      clock frequency and the processor's model irrelevant.
// Cost: some three microseconds for each look.
// Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "Front end sharing"; AMD Software
// Optimization
//      Guide for Family 19h, "Simultaneous multi-threading".
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"

namespace collage {

/// One per thread.
class SmtWatch {
 public:
  SmtWatch();
  /// `look` gives the time of the loop that slows down over that of the other one.
  explicit SmtWatch(std::function<double()> look, std::function<std::int64_t()> now_ns = monotonic_ns);

  [[nodiscard]] bool is_shared();
  /// Waits until the core is not shared, at most a few milliseconds, and a tenth of this object's life in all. False if
  /// it is still shared then.
  bool wait_until_alone();

 private:
  std::function<double()> look_;
  std::function<std::int64_t()> now_ns_;
  double least_;  ///< ratio seen
  std::int64_t made_ns_;
  std::int64_t waited_ns_ = 0;
};

}  // namespace collage
