#include "base/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/freed_pages.h"

namespace collage {
namespace {

constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kLine = 64;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

Pages from_heap(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kLine, bytes));
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return Pages(memory);
}

/// A separate mapping, whose pages the operating system clears, so they need not be cleared again.
Pages from_kernel(std::size_t bytes) {
  const std::size_t wide = bytes + kHugePage;
  if (wide < bytes) return {};
  void* mapped = ::mmap(nullptr, wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return {};
  auto* begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t before = rounded(address, kHugePage) - address;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, wide - before - bytes);
  // Only a wish: without huge pages everything works, with more page-table look-ups.
  (void)::madvise(begin + before, bytes, MADV_HUGEPAGE);
  return Pages(begin + before, FreePages{.mapped = bytes});
}

}  // namespace

void FreePages::operator()(std::byte* memory) const {
  if (mapped == 0)
    std::free(memory);
  else if (!FreedPages::of_process().put(memory, mapped))
    ::munmap(memory, mapped);
}

Pages allocate_pages(std::size_t bytes, PageSize size) {
  const std::size_t unit = size == PageSize::kHuge ? kHugePage : kLine;
  const std::size_t whole = rounded(std::max<std::size_t>(bytes, 1), unit);
  if (whole < bytes) return {};
  if (size == PageSize::kSmall) return from_heap(whole);
  const std::span<std::byte> freed = FreedPages::of_process().take(whole);
  if (freed.empty()) return from_kernel(whole);
  std::memset(freed.data(), 0, bytes);
  return Pages(freed.data(), FreePages{.mapped = freed.size()});
}

void touch_pages(std::byte* memory, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kSmallPage) {
    auto* byte = reinterpret_cast<volatile std::byte*>(memory + at);
    *byte = *byte;
  }
}

}  // namespace collage
