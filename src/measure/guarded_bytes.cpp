#include "measure/guarded_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace collage {
namespace {

constexpr std::byte kGuardByte{0xC7};

bool is_all_guard(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == kGuardByte; });
}

}  // namespace

void GuardedBytes::Free::operator()(std::byte* pointer) const { std::free(pointer); }

GuardedBytes::GuardedBytes(std::size_t size)
    : size_(size), allocated_((size + kGuard - 1) / kGuard * kGuard + 2 * kGuard) {
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kGuard, allocated_)));
  COLLAGE_CHECK(memory_ != nullptr, "out of memory");
  std::memset(memory_.get(), 0, allocated_);
  std::ranges::fill(before(), kGuardByte);
  std::ranges::fill(after(), kGuardByte);
}

std::span<std::byte> GuardedBytes::before() const { return {memory_.get(), kGuard}; }
std::span<std::byte> GuardedBytes::after() const {
  return {memory_.get() + kGuard + size_, allocated_ - kGuard - size_};
}

void GuardedBytes::poison(ElementType type) {
  if (size_ > 0) std::memset(data(), is_float(type) ? 0xFF : 0xA5, size_);
}

bool GuardedBytes::guards_hold() const { return !memory_ || (is_all_guard(before()) && is_all_guard(after())); }

}  // namespace collage
