// A stop token that fires when the user interrupts or when a time limit is reached, whichever comes first.
// In:  the user's token, a time. Out: a token.
// Cost: a sleeping thread.
#pragma once

#include <functional>
#include <stop_token>

#include "base/stop_timer.h"

namespace collage {

class TimeLimit {
 public:
  explicit TimeLimit(std::stop_token user);
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  /// From here on the time counts, too. Once.
  void arm(Clock::time_point until);

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> on_user_;
  StopTimer timer_;  ///< ends first: it uses the source
};

}  // namespace collage
