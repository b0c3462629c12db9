#include "timing/noise.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>
#include <vector>

#include "timing/pinning.h"
#include "timing/sampling.h"

namespace collage {
namespace {

cpu_set_t allowed() {
  cpu_set_t set{};
  ::sched_getaffinity(0, sizeof set, &set);
  return set;
}

TEST(Noise, AnotherThreadOnTheSameProcessorIsSeen) {
  const PinnedThread here(1);
  std::atomic<bool> ended = false;
  // Inherits the processor.
  std::thread rival([&] {
    while (!ended) {
    }
  });
  NoiseWatch watch;
  bool seen = false;
  // With one processor only the thread is not pinned, and still shares it.
  for (int tries = 0; tries < 200 && !seen; ++tries) {
    watch.begin();
    const std::int64_t begin = monotonic_ns();
    while (monotonic_ns() - begin < 20'000'000) {
    }
    seen = watch.end(monotonic_ns() - begin).preempted;
  }
  ended = true;
  rival.join();
  EXPECT_TRUE(seen);
}

TEST(Noise, WaitingForAnotherIsNoPreemption) {
  NoiseWatch watch;
  bool calm = false;
  // Somebody else may come in between now and then.
  for (int tries = 0; tries < 200 && !calm; ++tries) {
    watch.begin();
    const std::int64_t begin = monotonic_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const Disturbance seen = watch.end(monotonic_ns() - begin);
    EXPECT_FALSE(seen.major_fault);
    calm = !seen.preempted;
  }
  EXPECT_TRUE(calm);
}

TEST(Pinning, HoldsForItsLifetime) {
  const cpu_set_t before = allowed();
  {
    const PinnedThread pinned(1);
    const cpu_set_t during = allowed();
    EXPECT_EQ(CPU_COUNT(&during), 1);
  }
  const cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Pinning, ThreadThatNeedsAllProcessorsIsLeftAlone) {
  const cpu_set_t before = allowed();
  const PinnedThread pinned(CPU_COUNT(&before));
  const cpu_set_t during = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &during));
}

}  // namespace
}  // namespace collage
