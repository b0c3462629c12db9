// Detects what disturbed the calling thread during a measurement: preemption, page faults from files, cycles taken by
// other virtual machines. Only causes that the system reports count, never the measured values.
// Cost: two system calls at the start, three at the end.
// Source: getrusage(2), proc(5), clock_gettime(2).
#pragma once

#include <cstdint>

namespace collage {

struct Disturbance {
  bool preempted = false;    ///< another thread used its processor for a significant time
  bool major_fault = false;  ///< a page was read from a file
  bool stolen = false;       ///< the hypervisor gave the processor to another guest
  [[nodiscard]] bool any() const { return preempted || major_fault || stolen; }
};

/// One thread. A cause that the system does not report is not detected.
class NoiseWatch {
 public:
  NoiseWatch();
  NoiseWatch(const NoiseWatch&) = delete;
  NoiseWatch& operator=(const NoiseWatch&) = delete;
  ~NoiseWatch();

  void begin();
  /// Since begin(), which `elapsed_ns` ago by the clock.
  [[nodiscard]] Disturbance end(std::int64_t elapsed_ns) const;

 private:
  struct Look {
    std::int64_t preemptions = 0;
    std::int64_t major_faults = 0;
    std::int64_t busy_ns = 0;       ///< of this thread
    std::int64_t stolen_ticks = 0;  ///< of the whole machine
  };
  [[nodiscard]] Look look() const;

  int stat_ = -1;
  Look first_;
};

}  // namespace collage
