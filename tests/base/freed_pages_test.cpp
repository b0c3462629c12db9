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
  EXPECT_TRUE(FreedPages::of_process().take(kWhole + kHugePage).empty());
  {
    const Pages second = allocate_pages(kHugePage + 100, PageSize::kHuge);
    EXPECT_EQ(second.get(), first);
    EXPECT_TRUE(FreedPages::of_process().take(kWhole).empty());
    EXPECT_TRUE(std::ranges::all_of(std::span(second.get(), kHugePage + 100),
                                    [](std::byte byte) { return byte == std::byte{}; }));
  }
  const std::span<std::byte> kept = FreedPages::of_process().take(kWhole);
  ASSERT_EQ(kept.data(), first);
  FreePages{.mapped = kept.size()}(kept.data());
}

TEST(FreedPages, TheSmallestThatIsLargeEnoughAndAtMostTwiceAsLargeServes) {
  const Keeping keeping(10 * kHugePage);
  Pages large = allocate_pages(6 * kHugePage, PageSize::kHuge);
  Pages small = allocate_pages(4 * kHugePage, PageSize::kHuge);
  const std::byte* const address = small.get();
  large.reset();
  small.reset();
  EXPECT_TRUE(FreedPages::of_process().take(kHugePage).empty());
  const Pages served = allocate_pages(3 * kHugePage, PageSize::kHuge);
  EXPECT_EQ(served.get(), address);
  EXPECT_EQ(served.get_deleter().mapped, 4 * kHugePage);
}

TEST(FreedPages, TheOldestGoWhenThereAreTooMany) {
  const Keeping keeping(5 * kHugePage);
  for (const std::size_t count : {3, 1, 4}) (void)freed_block(count * kHugePage);
  const std::span<std::byte> one = FreedPages::of_process().take(kHugePage);
  EXPECT_EQ(one.size(), kHugePage);
  // A block of three would serve if it were there.
  const std::span<std::byte> four = FreedPages::of_process().take(3 * kHugePage);
  EXPECT_EQ(four.size(), 4 * kHugePage);
  for (const std::span<std::byte> kept : {one, four}) FreePages{.mapped = kept.size()}(kept.data());
}

TEST(FreedPages, GoBackToTheSystemWhereTheyAreTooLargeOrNobodyKeepsThem) {
  (void)freed_block();
  EXPECT_TRUE(FreedPages::of_process().take(kWhole).empty());
  const Keeping keeping(kHugePage);
  (void)freed_block();
  EXPECT_TRUE(FreedPages::of_process().take(kWhole).empty());
}

}  // namespace
}  // namespace collage
