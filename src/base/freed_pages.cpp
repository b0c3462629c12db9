#include "base/freed_pages.h"

#include <sys/mman.h>

#include <algorithm>

namespace collage {

FreedPages& FreedPages::of_process() {
  // Never destroyed: blocks are freed until the very end of the process.
  static auto* const pages = new FreedPages();
  return *pages;
}

void FreedPages::keep(std::size_t most_bytes) {
  const std::scoped_lock lock(mutex_);
  most_bytes_ = most_bytes;
  shrink(most_bytes);
}

std::span<std::byte> FreedPages::take(std::size_t least_bytes) {
  const std::scoped_lock lock(mutex_);
  auto best = blocks_.end();
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
    if (block->size() >= least_bytes && block->size() / 2 <= least_bytes &&
        (best == blocks_.end() || block->size() < best->size()))
      best = block;
  if (best == blocks_.end()) return {};
  const std::span<std::byte> taken = *best;
  blocks_.erase(best);
  kept_bytes_ -= taken.size();
  return taken;
}

bool FreedPages::put(std::byte* block, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > most_bytes_) return false;
  shrink(most_bytes_ - bytes);
  blocks_.emplace_back(block, bytes);
  kept_bytes_ += bytes;
  return true;
}

void FreedPages::shrink(std::size_t bytes) {
  while (kept_bytes_ > bytes) {
    const std::span<std::byte> oldest = blocks_.front();
    blocks_.pop_front();
    kept_bytes_ -= oldest.size();
    ::munmap(oldest.data(), oldest.size());
  }
}

}  // namespace collage
