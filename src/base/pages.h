// Allocates zeroed memory for tensors. Large blocks use huge pages, because a kernel that streams through several MiB
// otherwise spends time on page-table look-ups.
#pragma once

#include <cstddef>
#include <memory>

namespace collage {

inline constexpr std::size_t kBufferAlignment = 64;

[[nodiscard]] constexpr std::size_t aligned_up(std::size_t bytes, std::size_t alignment = kBufferAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

enum class PageSize : unsigned char { kSmall, kHuge };

struct FreePages {
  std::size_t mapped = 0;  ///< bytes of a separate mapping; 0 = from the heap
  void operator()(std::byte* memory) const;
};
using Pages = std::unique_ptr<std::byte, FreePages>;

/// At least `bytes` zeroed bytes. Aligned to kHugePage and asked to lie in huge pages for kHuge, else aligned to 64.
/// Null when there is no memory. Huge pages are there from their first use on, or touch_pages().
[[nodiscard]] Pages allocate_pages(std::size_t bytes, PageSize size);
/// In huge pages when they fill one.
[[nodiscard]] inline Pages allocate_pages(std::size_t bytes) {
  return allocate_pages(bytes, bytes >= kHugePage ? PageSize::kHuge : PageSize::kSmall);
}

/// Maps every page of the first `bytes`, so that the first use causes no page fault. Contents stay.
void touch_pages(std::byte* memory, std::size_t bytes);

}  // namespace collage
