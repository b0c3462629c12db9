#include "runtime/memory_block.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/pages.h"

namespace collage {

Result<MemoryBlock> MemoryBlock::allocate(std::size_t bytes, const std::string& label) {
  std::byte* memory = allocate_pages(bytes, bytes >= kHugePage);
  if (memory == nullptr)
    return fail(ExitCode::kLimit, "runtime/out-of-memory", label, fmt::format("{} bytes", bytes), "less memory");
  MemoryBlock block;
  block.data_ = memory;
  block.bytes_ = bytes;
  return block;
}

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MemoryBlock::~MemoryBlock() { std::free(data_); }

}  // namespace collage
