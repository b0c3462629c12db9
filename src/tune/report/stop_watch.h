// Records when the user interrupted a tune, and in which phase.
// In:  the user's stop token, the phases of a tune. Out: seconds and a phase.
// Cost: a lock for each phase.
#pragma once

#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

namespace collage {

class StopWatch {
 public:
  /// `elapsed_s` is called on the thread that asks for the stop.
  StopWatch(const std::stop_token& user, std::function<double()> elapsed_s)
      : elapsed_s_(std::move(elapsed_s)), on_stop_(user, [this] { note_stop(); }) {}
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  void enter(const std::string& phase) {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
  }
  /// Precondition for these: the stop came.
  [[nodiscard]] double stopped_s() {
    const std::lock_guard lock(mutex_);
    return stopped_s_;
  }
  [[nodiscard]] std::string stopped_in() {
    const std::lock_guard lock(mutex_);
    return stopped_in_;
  }

 private:
  void note_stop() {
    const std::lock_guard lock(mutex_);
    stopped_s_ = elapsed_s_();
    stopped_in_ = phase_;
  }

  std::mutex mutex_;
  std::string phase_ = "start";
  double stopped_s_ = 0;
  std::string stopped_in_;
  std::function<double()> elapsed_s_;
  std::stop_callback<std::function<void()>> on_stop_;  ///< last: it uses the others
};

}  // namespace collage
