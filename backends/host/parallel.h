// Divides a kernel's work among its threads. It uses OpenMP, as oneDNN does, so that both share one thread pool.
#pragma once

#include <algorithm>
#include <cstdint>

namespace collage::host {

/// Bytes that one thread moves in the time it takes to wake another: smaller work stays on one thread.
inline constexpr std::int64_t kBytesWorthAThread = std::int64_t{128} << 10;

/// Threads that pay off for work that touches `bytes`, at most `threads` and at most one for each of `parts`.
[[nodiscard]] inline int threads_for(int threads, std::int64_t bytes, std::int64_t parts) {
  return static_cast<int>(
      std::clamp<std::int64_t>(std::min(bytes / kBytesWorthAThread, parts), 1, std::max(threads, 1)));
}

/// Calls work(first, last, thread) for `threads` neighbouring ranges of [0, parts), at once.
template <class Work>
void in_ranges(int threads, std::int64_t parts, const Work& work) {
  if (threads <= 1) {
    work(std::int64_t{0}, parts, 0);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread)
    work(parts * thread / threads, parts * (thread + 1) / threads, thread);
}

}  // namespace collage::host
