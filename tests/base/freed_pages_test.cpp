#include "base/freed_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "base/pages.h"

namespace collage {
namespace {

/// Two huge pages.
constexpr std::size_t kBytes = kHugePage + 5;
constexpr std::size_t kWhole = 2 * kHugePage;

/// This process keeps pages while it lives.
struct Keeping {
  explicit Keeping(std::size_t bytes) { FreedPages::of_process().keep(bytes); }
  Keeping(const Keeping&) = delete;
  Keeping& operator=(const Keeping&) = delete;
  ~Keeping() { FreedPages::of_process().keep(0); }
};

std::byte* freed_block(std::size_t bytes = kBytes) {
  const Pages pages = allocate_pages(bytes, PageSize::kHuge);
  std::fill_n(pages.get(), bytes, std::byte{7});
  return pages.get();
}

TEST(FreedPages, AreGivenToTheNextBlockOfTheirSizeZeroed) {
  const Keeping keeping(2 * kWhole);
  const std::byte* const first = freed_block();
  EXPECT_EQ(FreedPages::of_process().take(kWhole + kHugePage), nullptr);
  {
    const Pages second = allocate_pages(kHugePage + 100, PageSize::kHuge);
    EXPECT_EQ(second.get(), first);
    EXPECT_EQ(FreedPages::of_process().take(kWhole), nullptr);
    EXPECT_TRUE(std::ranges::all_of(std::span(second.get(), kHugePage + 100),
                                    [](std::byte byte) { return byte == std::byte{}; }));
  }
  std::byte* const kept = FreedPages::of_process().take(kWhole);
  ASSERT_EQ(kept, first);
  FreePages{.mapped = kWhole}(kept);
}

TEST(FreedPages, TheOldestGoWhenThereAreTooMany) {
  const Keeping keeping(2 * kWhole);
  (void)freed_block();
  (void)freed_block(kHugePage);
  (void)freed_block(3 * kHugePage);
  EXPECT_EQ(FreedPages::of_process().take(kWhole), nullptr);
  for (const std::size_t bytes : {kHugePage, 3 * kHugePage}) {
    std::byte* const kept = FreedPages::of_process().take(bytes);
    ASSERT_NE(kept, nullptr);
    FreePages{.mapped = bytes}(kept);
  }
}

TEST(FreedPages, GoBackToTheSystemWhereTheyAreTooLargeOrNobodyKeepsThem) {
  (void)freed_block();
  EXPECT_EQ(FreedPages::of_process().take(kWhole), nullptr);
  const Keeping keeping(kHugePage);
  (void)freed_block();
  EXPECT_EQ(FreedPages::of_process().take(kWhole), nullptr);
}

}  // namespace
}  // namespace collage
