// Detects what disturbed the calling thread during a measurement: preemption, page faults from files, cycles taken by
// other virtual machines. Only causes that the system reports count, never the measured values.
// Cost: two system calls at the start, three at the end.
// Source: getrusage(2), proc(5), clock_gettime(2).
#pragma once

#include <cstdint>

namespace collage {

struct Disturbance {
  bool preempted = false;    ///< another thread had its processor for a while that counts
  bool major_fault = false;  ///< a page had to come from a file
  bool stolen = false;       ///< the machine below gave the processor to another guest
  [[nodiscard]] bool any() const { return preempted || major_fault || stolen; }
};

/// One thread. Where the system does not tell a cause, it is never seen.
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
