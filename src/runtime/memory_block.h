// A block of 64-byte aligned memory: a context's arena, inputs or outputs. Zeroed with its pages mapped, or the
// caller's.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "base/pages.h"

namespace collage {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Blocks of 2 MiB and more start at a multiple of it and ask for huge pages. Every page is touched, so that the
  /// first run meets no page faults. Error runtime/out-of-memory; `label` says what the memory is for.
  [[nodiscard]] static Result<MemoryBlock> allocate(std::size_t bytes, const std::string& label);

  /// The caller's memory, which outlives the block and is 64-byte aligned.
  [[nodiscard]] static MemoryBlock over(std::span<std::byte> memory) {
    MemoryBlock block;
    block.data_ = memory.data();
    block.bytes_ = memory.size();
    return block;
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  Pages pages_;  ///< null for the caller's memory
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace collage
