#include "base/stop_timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace collage {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

bool comes_within(const std::stop_source& source, milliseconds patience) {
  const Clock::time_point end = Clock::now() + patience;
  while (!source.stop_requested() && Clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  return source.stop_requested();
}

TEST(StopTimer, RequestsAStopWhenItsTimeHasCome) {
  StopTimer timer;
  const std::stop_source source;
  const Clock::time_point begin = Clock::now();
  timer.start(source, begin + milliseconds(20));
  EXPECT_TRUE(comes_within(source, hours(1)));
  EXPECT_GE(Clock::now() - begin, milliseconds(20));
  EXPECT_TRUE(timer.call_off());
}

TEST(StopTimer, RequestsNothingOnceItIsCalledOff) {
  StopTimer timer;
  const std::stop_source source;
  timer.start(source, Clock::now() + milliseconds(20));
  EXPECT_FALSE(timer.call_off());
  EXPECT_FALSE(comes_within(source, milliseconds(60)));
}

TEST(StopTimer, TakesAnEarlierAndALaterTimeInsteadOfTheLast) {
  StopTimer timer;
  const std::stop_source never;
  const std::stop_source soon;
  timer.start(never, Clock::time_point::max());
  timer.start(never, Clock::now() + hours(1));
  timer.start(soon, Clock::now() + milliseconds(5));
  EXPECT_TRUE(comes_within(soon, hours(1)));
  timer.start(never, Clock::now() + hours(1));
  EXPECT_FALSE(timer.call_off());
  EXPECT_FALSE(never.stop_requested());
}

TEST(StopTimer, ATimeInThePastComesAtOnce) {
  StopTimer timer;
  const std::stop_source source;
  timer.start(source, Clock::now() - hours(1));
  EXPECT_TRUE(comes_within(source, hours(1)));
}

TEST(StopTimer, EndsWithATimeStillToCome) {
  const std::stop_source source;
  {
    StopTimer timer;
    timer.start(source, Clock::now() + hours(1));
  }
  EXPECT_FALSE(source.stop_requested());
}

}  // namespace
}  // namespace collage
