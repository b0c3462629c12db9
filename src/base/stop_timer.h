// Requests a stop at a point in time, unless it is called off before.
// In:  a stop source, a time. Out: the source's request.
// Threads: start() and call_off() are for one thread at a time.
// Cost: a sleeping thread. start() and call_off() take a lock, which is free unless the time has come; they allocate
//       nothing and wake the thread only for a time before the one it sleeps until.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/clock.h"

namespace collage {

class StopTimer {
 public:
  StopTimer();
  StopTimer(const StopTimer&) = delete;
  StopTimer& operator=(const StopTimer&) = delete;
  ~StopTimer();

  /// Requests the stop of `source` at `until`, instead of what was started before.
  void start(std::stop_source source, Clock::time_point until);
  /// After it no stop is requested any more. Whether the time had come.
  bool call_off();

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::stop_source> source_;  ///< whose time has not come
  Clock::time_point until_;
  Clock::time_point wakes_ = Clock::time_point::max();  ///< until when the thread sleeps
  bool has_come_ = false;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace collage
