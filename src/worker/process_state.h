// Detects and undoes changes that third-party code makes to the state of its process.
// In:  the process before and after a call. Out: the differences as text; those that can be undone have been undone.
// Examples: a flush-to-zero bit or rounding mode that changes the results of later code; a changed working folder or
// locale; a child process that keeps running while other kernels are timed. Threads, file descriptors and memory are
// not compared here, because the first use of a library legitimately adds some; resource_check.h finds those that grow
// with every run.
// Cost: about 100 us for a comparison, most of it for 64 signal handlers and two files of /proc.
// Source: Intel SDM volume 1, 10.2.3 (MXCSR).
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace collage {

/// How this thread computes: rounding, flush-to-zero, denormals-are-zero, exception masks. Sticky flags left out.
[[nodiscard]] std::uint32_t float_control();
/// A few nanoseconds.
void set_float_control(std::uint32_t control);

/// A value; of the calling thread where threads have their own.
struct ProcessState {
  std::uint32_t float_control = 0;
  std::string locale;
  std::string folder;  ///< the working directory
  mode_t umask = 0;
  sigset_t blocked = {};  ///< signals
  std::array<struct sigaction, 64> handlers = {};
  cpu_set_t affinity = {};
  std::map<std::string, std::string> environment;  ///< the variables that thread pools and maths libraries read
};

[[nodiscard]] ProcessState process_state();

/// The differences, a few words each.
[[nodiscard]] std::vector<std::string> differences(const ProcessState& before, const ProcessState& after);

/// Restores everything in which the process differs from `state`.
void restore(const ProcessState& state);

/// Ends all processes that this one started, and those they left to it (in a worker, which adopts orphans, that is
/// every descendant); how many there were.
std::size_t end_children();

/// Keeps the process in the state that it had when this object was made. One thread.
class StateWatch {
 public:
  StateWatch() : state_(process_state()) {}

  /// What changed since the last call and was restored; "" when nothing changed.
  [[nodiscard]] std::string settle();
  /// The same for float_control() alone: true when it had changed.
  [[nodiscard]] bool settle_float_control() const;

 private:
  ProcessState state_;
};

}  // namespace collage
