#include "base/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace collage {
namespace {

TEST(Pages, AreZeroedAlignedAndWritable) {
  for (const PageSize size : {PageSize::kSmall, PageSize::kHuge}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kHugePage, 3 * kHugePage + 5}) {
      const Pages pages = allocate_pages(bytes, size);
      ASSERT_TRUE(pages);
      const std::span<std::byte> all(pages.get(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.data()) % (size == PageSize::kHuge ? kHugePage : 64), 0U);
      EXPECT_TRUE(std::ranges::all_of(all, [](std::byte byte) { return byte == std::byte{}; }));
      std::ranges::fill(all, std::byte{7});
      touch_pages(pages.get(), bytes);
      EXPECT_TRUE(std::ranges::all_of(all, [](std::byte byte) { return byte == std::byte{7}; }));
    }
  }
}

TEST(Pages, AreNullWithoutMemory) {
  for (const PageSize size : {PageSize::kSmall, PageSize::kHuge})
    for (const std::size_t less : {std::size_t{0}, std::size_t{100}, kHugePage})
      EXPECT_FALSE(allocate_pages(std::numeric_limits<std::size_t>::max() / 2 - less, size));
}

}  // namespace
}  // namespace collage
