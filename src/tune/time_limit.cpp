#include "tune/time_limit.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace collage {
namespace {

/// A thread started while this lives handles no signals: they are for the threads of the program.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

}  // namespace

TimeLimit::TimeLimit(std::stop_token user)
    : on_user_(std::move(user), [source = source_]() mutable { source.request_stop(); }) {}

void TimeLimit::arm(std::chrono::steady_clock::time_point until) {
  const SignalsBlocked blocked;
  clock_ = std::jthread([source = source_, until](const std::stop_token& ended) mutable {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait_until(lock, ended, until, [] { return false; });
    if (!ended.stop_requested()) source.request_stop();
  });
}

}  // namespace collage
