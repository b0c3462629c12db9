// A stop token that fires when the user interrupts or when a time limit is reached, whichever comes first.
// In:  the user's token, a time. Out: a token.
// Cost: a sleeping thread.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace collage {

class TimeLimit {
 public:
  explicit TimeLimit(std::stop_token user);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  /// From here on the time counts, too. Once.
  void arm(std::chrono::steady_clock::time_point until);

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_user_;
  std::jthread clock_;  ///< ends first: it uses the others
};

}  // namespace collage
