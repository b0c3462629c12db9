#include "base/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace collage {

std::byte* allocate_pages(std::size_t bytes, bool huge) {
  const std::size_t alignment = huge ? kHugePage : 64;
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  const std::size_t rounded = (wanted + alignment - 1) / alignment * alignment;
  void* memory = rounded < wanted ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) return nullptr;
  // Only a wish: without huge pages everything works, with more page-table misses.
  if (huge) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 0, rounded);
  return static_cast<std::byte*>(memory);
}

}  // namespace collage
