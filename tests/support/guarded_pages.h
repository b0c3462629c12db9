// Memory between pages that nobody may touch: a kernel that reads outside of its buffers is killed, where guard zones
// of bytes show only what it writes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "base/error.h"

namespace collage::test {

/// Which end of the bytes lies at a page that nobody may touch.
enum class PageSide { kBefore, kAfter };

class GuardedPages {
 public:
  explicit GuardedPages(std::size_t bytes, PageSide side = PageSide::kAfter)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), whole_((bytes + page_ - 1) / page_ * page_) {
    memory_ = static_cast<std::byte*>(mmap(nullptr, whole_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    COLLAGE_CHECK(memory_ != MAP_FAILED && mprotect(memory_ + page_, whole_, PROT_READ | PROT_WRITE) == 0,
                  "no guarded pages");
    data_ = memory_ + page_ + (side == PageSide::kAfter ? whole_ - bytes : 0);
  }
  ~GuardedPages() { munmap(memory_, whole_ + 2 * page_); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::size_t page_;
  std::size_t whole_;
  std::byte* memory_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace collage::test
