#include "tune/time_limit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stop_token>

namespace collage {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

TEST(TimeLimit, StopsWhenTheTimeIsUp) {
  TimeLimit limit({});
  limit.arm(Clock::now() + 20ms);
  std::promise<void> stopped;
  const std::stop_callback heard(limit.token(), [&] { stopped.set_value(); });
  EXPECT_EQ(stopped.get_future().wait_for(10s), std::future_status::ready);
}

TEST(TimeLimit, TimeDoesNotCountBeforeItIsArmed) {
  const TimeLimit limit({});
  EXPECT_FALSE(limit.token().stop_requested());
}

TEST(TimeLimit, StopsWhenTheUserAsks) {
  std::stop_source user;
  TimeLimit limit(user.get_token());
  limit.arm(Clock::now() + 1h);
  EXPECT_FALSE(limit.token().stop_requested());
  user.request_stop();
  EXPECT_TRUE(limit.token().stop_requested());
}

TEST(TimeLimit, EndsWithoutWaitingAndWithoutStopping) {
  std::stop_token token;
  {
    TimeLimit limit({});
    limit.arm(Clock::now() + 1h);
    token = limit.token();
  }
  EXPECT_FALSE(token.stop_requested());
}

TEST(TimeLimit, UserWhoStoppedBeforeIsHeard) {
  std::stop_source user;
  user.request_stop();
  TimeLimit limit(user.get_token());
  limit.arm(Clock::now() + 1h);
  EXPECT_TRUE(limit.token().stop_requested());
}

}  // namespace
}  // namespace collage
