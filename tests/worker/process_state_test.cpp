#include "worker/process_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <filesystem>

namespace collage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void handler(int) {}

/// Every change is seen under its name, and gone after it was settled.
void expect_noticed(const std::string& name, void (*change)()) {
  SCOPED_TRACE(name);
  const ProcessState before = process_state();
  StateWatch watch;
  change();
  const bool is_process = name == "a process left behind";  // not part of the state itself
  if (!is_process) {
    EXPECT_THAT(differences(before, process_state()), ElementsAre(HasSubstr(name)));
  }
  EXPECT_THAT(watch.settle(), HasSubstr(name));
  EXPECT_THAT(differences(before, process_state()), ElementsAre());
  EXPECT_EQ(watch.settle(), "");
}

TEST(ProcessState, NothingHappenedIsNoDifference) {
  StateWatch watch;
  EXPECT_EQ(watch.settle(), "");
  EXPECT_FALSE(watch.settle_float_control());
}

TEST(ProcessState, EveryChangeIsSeenAndPutBack) {
  expect_noticed("rounding", [] { std::fesetround(FE_UPWARD); });
  expect_noticed("rounding", [] { set_float_control(float_control() ^ 0x8000); });
  expect_noticed("working directory", [] { std::filesystem::current_path("/"); });
  expect_noticed("umask", [] { ::umask(0123); });
  expect_noticed("SIGUSR1", [] { ::signal(SIGUSR1, handler); });
  expect_noticed("SIGTERM", [] { ::signal(SIGTERM, SIG_IGN); });
  expect_noticed("blocked signals", [] {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  });
  expect_noticed("environment", [] { ::setenv("OMP_NUM_THREADS", "77", 1); });
  expect_noticed("locale", [] { ASSERT_NE(std::setlocale(LC_ALL, "C.UTF-8"), nullptr); });
  expect_noticed("a process left behind", [] {
    if (::fork() == 0)
      for (;;) ::sleep(1);
  });
}

TEST(ProcessState, AffinityIsPutBack) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  expect_noticed("affinity", [] {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) {
        CPU_CLR(cpu, &set);
        break;
      }
    ::sched_setaffinity(0, sizeof set, &set);
  });
}

TEST(ProcessState, RoundingIsRightAgainInBothUnits) {
  const std::uint32_t before = float_control();
  std::fesetround(FE_DOWNWARD);
  StateWatch watch;
  set_float_control(before);
  EXPECT_TRUE(watch.settle_float_control());
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  set_float_control(before);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

/// A grandchild in a session of its own comes to whoever adopts orphans, as a worker does.
TEST(ProcessState, OrphansAreEndedToo) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0)
      for (;;) ::sleep(1);
    for (;;) ::sleep(1);
  }
  ::usleep(20'000);
  EXPECT_EQ(end_children(), 2U);
  EXPECT_EQ(end_children(), 0U);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace
}  // namespace collage
