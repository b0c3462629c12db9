#include "runtime/memory_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace collage {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Result<MemoryBlock> MemoryBlock::allocate(std::size_t bytes, const std::string& label) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  const std::size_t rounded = (wanted + alignment - 1) / alignment * alignment;
  void* memory = rounded < wanted ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr)
    return fail(ExitCode::kLimit, "runtime/out-of-memory", label, fmt::format("{} bytes", bytes), "less memory");
  // Only a wish: without huge pages everything works, with more page-table misses.
  if (alignment == kHugePage) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
  std::memset(memory, 0, rounded);
  MemoryBlock block;
  block.data_ = static_cast<std::byte*>(memory);
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
