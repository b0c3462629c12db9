#include "timing/pinning.h"

namespace collage {

PinnedThread::PinnedThread(int threads) {
  const int here = ::sched_getcpu();
  if (threads <= 0 || here < 0 || ::sched_getaffinity(0, sizeof before_, &before_) != 0 ||
      threads >= CPU_COUNT(&before_))
    return;
  cpu_set_t chosen{};
  CPU_SET(here, &chosen);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < threads; ++cpu)
    if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &chosen);
  is_pinned_ = ::sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

PinnedThread::~PinnedThread() {
  if (is_pinned_) ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace collage
