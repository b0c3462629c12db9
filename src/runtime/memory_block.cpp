#include "runtime/memory_block.h"

#include <utility>

#include <fmt/format.h>

namespace collage {

Result<MemoryBlock> MemoryBlock::allocate(std::size_t bytes, const std::string& label) {
  Pages pages = allocate_pages(bytes);
  if (!pages)
    return fail(ExitCode::kLimit, "runtime/out-of-memory", label, fmt::format("{} bytes", bytes), "less memory");
  MemoryBlock block;
  touch_pages(pages.get(), bytes);
  block.pages_ = std::move(pages);
  block.data_ = block.pages_.get();
  block.bytes_ = bytes;
  return block;
}

}  // namespace collage
