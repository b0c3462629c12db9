// A block of 64-byte aligned, zeroed memory whose pages are already mapped: a context's arena, inputs or outputs.
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

  [[nodiscard]] std::byte* data() const { return pages_.get(); }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  Pages pages_;
  std::size_t bytes_ = 0;
};

}  // namespace collage
