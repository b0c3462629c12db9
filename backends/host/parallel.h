// Divides a kernel's work among its threads: those of the session's pool when it has one, else OpenMP's, which oneDNN
// uses too, so that both share one pool.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/thread_pool.h"

namespace collage::host {

/// Bytes that one thread moves in the time it takes to wake another: smaller work stays on one thread.
inline constexpr std::int64_t kBytesWorthAThread = std::int64_t{128} << 10;

/// Threads that pay off for work that touches `bytes`, at most `threads` and at most one for each of `parts`.
[[nodiscard]] inline int threads_for(int threads, std::int64_t bytes, std::int64_t parts) {
  return static_cast<int>(
      std::clamp<std::int64_t>(std::min(bytes / kBytesWorthAThread, parts), 1, std::max(threads, 1)));
}

/// Calls work(first, last, thread) for at most `threads` neighbouring ranges of [0, parts), at once. `pool` may be
/// null.
template <class Work>
void in_ranges(ThreadPool* pool, int threads, std::int64_t parts, const Work& work) {
  if (pool != nullptr) threads = pool->tasks(threads);
  if (threads <= 1) {
    work(std::int64_t{0}, parts, 0);
    return;
  }
  const auto range = [&](int thread) { work(parts * thread / threads, parts * (thread + 1) / threads, thread); };
  if (pool != nullptr) {
    pool->run(static_cast<std::size_t>(threads), [&](std::size_t thread) { range(static_cast<int>(thread)); });
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    const DefaultFloatMode mode;
    range(thread);
  }
}

}  // namespace collage::host
