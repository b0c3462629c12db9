#include "timing/displacer.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

namespace collage {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::int64_t kUsualPrivateBytes = std::int64_t{1} << 20;
constexpr std::int64_t kUsualLastBytes = std::int64_t{32} << 20;

std::int64_t size_or(int name, std::int64_t usual) {
  const long bytes = ::sysconf(name);
  return bytes > 0 ? bytes : usual;
}

}  // namespace

CacheSizes cache_sizes() {
  const std::int64_t own = size_or(_SC_LEVEL2_CACHE_SIZE, kUsualPrivateBytes);
  return {.private_bytes = own, .last_bytes = std::max(own, size_or(_SC_LEVEL3_CACHE_SIZE, kUsualLastBytes))};
}

std::int64_t displaced_bytes(std::int64_t weight_bytes, const CacheSizes& caches) {
  if (weight_bytes <= caches.private_bytes / 2) return 0;
  const auto all = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(weight_bytes)));
  const auto enough = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(caches.last_bytes) * 3 / 2));
  return std::min(all, enough);
}

Displacer::Displacer(std::int64_t bytes)
    : bytes_(bytes), memory_(bytes > 0 ? allocate_pages(static_cast<std::size_t>(bytes), PageSize::kHuge) : nullptr) {
  if (memory_) touch_pages(memory_.get(), static_cast<std::size_t>(bytes_));
}

void Displacer::run() const {
  if (memory_) read_through({memory_.get(), static_cast<std::size_t>(bytes_)});
}

void read_through(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += kLine) {
    const volatile std::byte& line = bytes[i];
    [[maybe_unused]] const std::byte seen = line;
  }
}

}  // namespace collage
