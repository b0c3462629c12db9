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

std::byte* FreedPages::take(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(blocks_, bytes, &Block::bytes);
  if (found == blocks_.end()) return nullptr;
  std::byte* const memory = found->memory;
  blocks_.erase(found);
  kept_bytes_ -= bytes;
  return memory;
}

bool FreedPages::put(std::byte* block, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > most_bytes_) return false;
  shrink(most_bytes_ - bytes);
  blocks_.push_back({block, bytes});
  kept_bytes_ += bytes;
  return true;
}

void FreedPages::shrink(std::size_t bytes) {
  while (kept_bytes_ > bytes) {
    const Block oldest = blocks_.front();
    blocks_.pop_front();
    kept_bytes_ -= oldest.bytes;
    ::munmap(oldest.memory, oldest.bytes);
  }
}

}  // namespace collage
