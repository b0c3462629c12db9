#include "numbers/guarded_bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/error.h"

namespace collage {
namespace {

/// Smaller buffers touch few pages of any size.
constexpr std::size_t kHugeFrom = std::size_t{64} << 10;
/// An odd number of cache lines, about half a small page.
constexpr std::size_t kLinesBetweenPlaces = 37;
constexpr std::size_t kMostPlaces = 64;
constexpr std::byte kGuardByte{0xC7};

bool is_all_guard(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == kGuardByte; });
}

}  // namespace

GuardedBytes::GuardedBytes(std::size_t size, std::size_t place, bool timed)
    : offset_(kGuard * (1 + place % kMostPlaces * kLinesBetweenPlaces)),
      size_(size),
      allocated_(offset_ + (size + kGuard - 1) / kGuard * kGuard + kGuard) {
  memory_ = allocate_pages(allocated_, timed && size >= kHugeFrom ? PageSize::kHuge : PageSize::kSmall);
  if (memory_ == nullptr) throw std::bad_alloc();
  std::ranges::fill(before(), kGuardByte);
  std::ranges::fill(after(), kGuardByte);
}

std::span<std::byte> GuardedBytes::before() const { return {memory_.get(), offset_}; }
std::span<std::byte> GuardedBytes::after() const {
  return {memory_.get() + offset_ + size_, allocated_ - offset_ - size_};
}

void GuardedBytes::poison(ElementType type) {
  if (size_ > 0) std::memset(data(), is_float(type) ? 0xFF : 0xA5, size_);
}

bool GuardedBytes::guards_hold() const { return !memory_ || (is_all_guard(before()) && is_all_guard(after())); }

}  // namespace collage
