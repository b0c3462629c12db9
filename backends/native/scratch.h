// Scratch memory of one run: a stack allocator over bytes that the plan provides.
// In:  a range of bytes. Out: 64-byte aligned blocks, released roughly in reverse order.
// How: a block that is released below others is marked, and removed when it is on top. Kernels nest their allocations,
//       so the peak is known when they are compiled.
// Cost: a few instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace collage::native {

/// What each block takes beside its bytes; the compiler counts it too.
inline constexpr std::size_t kBlockHead = 64;

/// Bytes a block of this size takes.
constexpr std::size_t block_bytes(std::size_t bytes) { return kBlockHead + (bytes + 63) / 64 * 64; }

class Scratch {
 public:
  Scratch() = default;
  Scratch(std::byte* base, std::size_t bytes) : base_(base), bytes_(bytes) {}

  void clear() {
    used_ = 0;
    last_ = kNone;
  }
  /// Null when the range is used up.
  void* allocate(std::size_t bytes) {
    const std::size_t wanted = block_bytes(bytes);
    if (wanted > bytes_ - used_) return nullptr;
    auto* head = reinterpret_cast<Head*>(base_ + used_);
    *head = {.below = last_, .is_free = false};
    last_ = used_;
    used_ += wanted;
    return base_ + last_ + kBlockHead;
  }
  void release(void* pointer) {
    if (pointer == nullptr) return;
    reinterpret_cast<Head*>(static_cast<std::byte*>(pointer) - kBlockHead)->is_free = true;
    while (last_ != kNone && head_at(last_)->is_free) {
      used_ = last_;
      last_ = head_at(last_)->below;
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Head {
    std::size_t below;
    bool is_free;
  };
  static_assert(sizeof(Head) <= kBlockHead);
  [[nodiscard]] Head* head_at(std::size_t at) const { return reinterpret_cast<Head*>(base_ + at); }

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t used_ = 0;
  std::size_t last_ = kNone;
};

}  // namespace collage::native
