// Memory for tensors: zeroed, and in huge pages where that pays, because a kernel that streams through a few MiB
// otherwise waits for page-table look-ups.
#pragma once

#include <cstddef>

namespace collage {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// At least `bytes` zeroed bytes. Aligned to kHugePage and asked to lie in huge pages when `huge`, else aligned to 64.
/// Null when there is no memory. To be given to std::free.
[[nodiscard]] std::byte* allocate_pages(std::size_t bytes, bool huge);

}  // namespace collage
