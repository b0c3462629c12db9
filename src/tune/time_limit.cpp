#include "tune/time_limit.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace collage {

TimeLimit::TimeLimit(std::stop_token user)
    : on_user_(std::move(user), [source = source_]() mutable { source.request_stop(); }) {}

void TimeLimit::arm(std::chrono::steady_clock::time_point until) {
  clock_ = std::jthread([source = source_, until](const std::stop_token& ended) mutable {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_until(lock, ended, until, [] { return false; });
    if (!ended.stop_requested()) source.request_stop();
  });
}

}  // namespace collage
