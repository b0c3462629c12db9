// Event counters of the processor and the kernel for this process: cycles, instructions, cache misses, processor time.
// Source: perf_event_open(2) of Linux.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace collage {

/// Counts from its creation on, in the calling thread and all threads that it starts later. Virtual machines often have
/// no counters of the processor; the kernel's own, such as processor time, exist nearly everywhere.
class Counters {
 public:
  /// Opens each counter that the machine and /proc/sys/kernel/perf_event_paranoid allow. Never fails: see refused().
  [[nodiscard]] static Counters open();

  Counters(Counters&& other) noexcept = default;
  Counters& operator=(Counters&& other) = delete;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  /// Of the open ones: "cycles", "instructions", "cache_misses", "branch_misses", "cpu_ns" (nanoseconds in which a
  /// thread ran), "page_faults". Counts of the processor are scaled where it has too few counters for all at once.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The others, each with the reason: "cycles: No such file or directory".
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }

  /// Writes the counts since open() to `values`, one for each name. About a microsecond for each counter.
  void read(std::span<std::uint64_t> values) const;

 private:
  Counters() = default;

  std::vector<std::string> names_;
  std::vector<std::string> refused_;
  std::vector<int> files_;  ///< one descriptor for each name
};

}  // namespace collage
