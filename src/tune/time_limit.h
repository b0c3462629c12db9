// One stop token for two reasons: the user asks, or the time is up.
// In: the user's token, a time. Out: a token.
// Cost: a sleeping thread.
// Source: ours.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace collage {

class TimeLimit {
 public:
  TimeLimit(std::stop_token user, std::chrono::steady_clock::time_point until);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_user_;
  std::jthread clock_;  ///< ends first: it uses the others
};

}  // namespace collage
