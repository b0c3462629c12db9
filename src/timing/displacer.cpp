#include "timing/displacer.h"

#include <cpuid.h>
#include <emmintrin.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/clock.h"

namespace collage {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::int64_t kUsualPrivateBytes = std::int64_t{1} << 20;
constexpr std::int64_t kUsualLastBytes = std::int64_t{32} << 20;
/// Reading so many takes a millisecond.
constexpr std::int64_t kReadQuickly = std::int64_t{16} << 20;
/// Reading so many bytes tells where they were: bytes that take this share of the time that flushed ones take were in
/// memory, or nearly all of them.
constexpr std::int64_t kProbeBytes = std::int64_t{1} << 20;
constexpr double kFromMemory = 0.8;
constexpr std::size_t kProbes = 3;

std::int64_t size_or(int name, std::int64_t usual) {
  const long bytes = ::sysconf(name);
  return bytes > 0 ? bytes : usual;
}

/// What empties the last-level cache.
std::int64_t bytes_of_all(const CacheSizes& caches) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(caches.last_bytes) * 3 / 2));
}

bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 23 & 1U) != 0;
}

/// Lines do not wait for one another: many times as fast as clflush.
[[gnu::target("clflushopt")]] void flush_unordered(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += kLine) __builtin_ia32_clflushopt(&bytes[i]);
  if (!bytes.empty()) __builtin_ia32_clflushopt(&bytes.back());
}

}  // namespace

CacheSizes cache_sizes() {
  const std::int64_t own = size_or(_SC_LEVEL2_CACHE_SIZE, kUsualPrivateBytes);
  return {.private_bytes = own, .last_bytes = std::max(own, size_or(_SC_LEVEL3_CACHE_SIZE, kUsualLastBytes))};
}

std::int64_t displaced_bytes(std::int64_t weight_bytes, const CacheSizes& caches) {
  if (weight_bytes <= caches.private_bytes / 2) return 0;
  const auto all = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(weight_bytes)));
  return std::min(all, bytes_of_all(caches));
}

void Displacer::run() { read(bytes_); }

void Displacer::run_for(std::span<const std::span<const std::byte>> constants) {
  if (!empties_last_cache()) return run();
  for (const std::span<const std::byte> constant : constants) flush(constant);
  read(std::min(bytes_, 2 * caches_.private_bytes));
}

bool Displacer::empties_last_cache() {
  if (!empties_last_cache_)
    empties_last_cache_ = bytes_ >= bytes_of_all(caches_) || (bytes_ > kReadQuickly && is_like_flushing());
  return *empties_last_cache_;
}

/// The system may report a cache of which other machines beside this one use most.
bool Displacer::is_like_flushing() {
  const Pages pages = allocate_pages(kProbeBytes, PageSize::kHuge);
  if (!pages) return false;
  touch_pages(pages.get(), kProbeBytes);
  const std::span<const std::byte> probe(pages.get(), kProbeBytes);
  const auto read_after = [&](auto evict) {
    std::array<std::int64_t, kProbes> times{};
    for (std::int64_t& time : times) {
      read_through(probe);
      evict();
      const std::int64_t begin = monotonic_ns();
      read_through(probe);
      time = monotonic_ns() - begin;
    }
    std::ranges::sort(times);
    return static_cast<double>(times[kProbes / 2]);
  };
  const double displaced_ns = read_after([this] { run(); });
  return displaced_ns >= kFromMemory * read_after([&] { flush(probe); });
}

void Displacer::read(std::int64_t bytes) {
  if (bytes > allocated_) {
    memory_ = allocate_pages(static_cast<std::size_t>(bytes), PageSize::kHuge);
    if (memory_) touch_pages(memory_.get(), static_cast<std::size_t>(bytes));
    allocated_ = bytes;
  }
  if (memory_) read_through({memory_.get(), static_cast<std::size_t>(bytes)});
}

void read_through(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += kLine) {
    const volatile std::byte& line = bytes[i];
    [[maybe_unused]] const std::byte seen = line;
  }
}

void flush(std::span<const std::byte> bytes) {
  static const bool is_unordered = has_clflushopt();
  if (is_unordered) {
    flush_unordered(bytes);
  } else {
    for (std::size_t i = 0; i < bytes.size(); i += kLine) _mm_clflush(&bytes[i]);
    if (!bytes.empty()) _mm_clflush(&bytes.back());
  }
  _mm_mfence();
}

}  // namespace collage
