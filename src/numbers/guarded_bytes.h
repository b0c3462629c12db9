// A 64-byte aligned buffer between two guard zones that detect a kernel that writes outside of it.
#pragma once

#include <cstddef>
#include <span>

#include "base/pages.h"
#include "ir/type.h"

namespace collage {

class GuardedBytes {
 public:
  GuardedBytes() = default;
  /// `size` zeroed bytes. A default-constructed object allocates nothing and its data() is null.
  explicit GuardedBytes(std::size_t size) : GuardedBytes(size, 0, false) {}
  /// For a kernel that is timed: in huge pages above some size, like a plan's values. Buffers that are used together
  /// begin at different offsets in a page, because equal offsets slow kernels down.
  GuardedBytes(std::size_t size, std::size_t place) : GuardedBytes(size, place, true) {}

  [[nodiscard]] std::byte* data() const { return memory_ ? memory_.get() + offset_ : nullptr; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data(), size_}; }

  /// Fills with a pattern that no correct output consists of: NaN for floats, 0xA5 for others.
  void poison(ElementType type);
  /// False once a byte of a guard zone has changed.
  [[nodiscard]] bool guards_hold() const;

 private:
  GuardedBytes(std::size_t size, std::size_t place, bool timed);

  static constexpr std::size_t kGuard = 64;

  [[nodiscard]] std::span<std::byte> before() const;
  [[nodiscard]] std::span<std::byte> after() const;

  Pages memory_;
  std::size_t offset_ = 0;
  std::size_t size_ = 0;
  std::size_t allocated_ = 0;
};

}  // namespace collage
