#include "base/stop_timer.h"

#include <utility>

#include "base/signals_blocked.h"

namespace collage {

StopTimer::StopTimer() {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { watch(); });
}

StopTimer::~StopTimer() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StopTimer::start(std::stop_source source, Clock::time_point until) {
  bool is_earlier = false;
  {
    const std::lock_guard lock(mutex_);
    source_ = std::move(source);
    until_ = until;
    has_come_ = false;
    is_earlier = until < wakes_;
  }
  if (is_earlier) changed_.notify_one();
}

bool StopTimer::call_off() {
  const std::lock_guard lock(mutex_);
  source_.reset();
  return has_come_;
}

void StopTimer::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (source_ && Clock::now() >= until_) {
      // With the lock: once call_off() returns, nothing of this happens any more.
      has_come_ = true;
      std::exchange(source_, std::nullopt)->request_stop();
    }
    wakes_ = source_ ? until_ : Clock::time_point::max();
    if (source_)
      changed_.wait_until(lock, until_);
    else
      changed_.wait(lock);
  }
}

}  // namespace collage
