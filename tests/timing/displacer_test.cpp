#include "timing/displacer.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr CacheSizes kCaches = {.private_bytes = kMiB, .last_bytes = 32 * kMiB};

TEST(Displacer, AModelThatStaysInItsCoresCacheDisplacesNothing) {
  EXPECT_EQ(displaced_bytes(0, kCaches), 0);
  EXPECT_EQ(displaced_bytes(kMiB / 2, kCaches), 0);
  EXPECT_GT(displaced_bytes(kMiB / 2 + 1, kCaches), 0);
}

TEST(Displacer, AModelDisplacesItsWeightsAndAtMostTheLastCache) {
  EXPECT_EQ(displaced_bytes(14 * kMiB, kCaches), 16 * kMiB);
  EXPECT_EQ(displaced_bytes(16 * kMiB, kCaches), 16 * kMiB);
  EXPECT_EQ(displaced_bytes(100 * kMiB, kCaches), 64 * kMiB);
  EXPECT_EQ(displaced_bytes(10'000 * kMiB, kCaches), 64 * kMiB);
}

TEST(Displacer, TheCachesOfThisMachineMakeSense) {
  EXPECT_GE(cache_sizes().private_bytes, 1 << 16);
  EXPECT_GE(cache_sizes().last_bytes, cache_sizes().private_bytes);
}

TEST(Displacer, FlushingWritesBackWhatWasChanged) {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  flush(std::span<const std::byte>(bytes).subspan(3));
  flush({});
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], static_cast<std::byte>(i));
}

TEST(Displacer, ConstantsStayAsTheyAre) {
  std::vector<std::byte> bytes(1000, std::byte{1});
  const std::vector<std::span<const std::byte>> constants = {bytes, {}};
  for (const std::int64_t displaced : {std::int64_t{0}, kMiB, 64 * kMiB}) {
    Displacer displacer(displaced, kCaches);
    EXPECT_EQ(displacer.bytes(), displaced);
    bytes.front() = bytes.back() = std::byte{2};
    displacer.run_for(constants);
    displacer.run();
    EXPECT_EQ(bytes.front(), std::byte{2}) << displaced;
    EXPECT_EQ(bytes[1], std::byte{1}) << displaced;
    EXPECT_EQ(bytes.back(), std::byte{2}) << displaced;
    bytes.assign(1000, std::byte{1});
  }
}

}  // namespace
}  // namespace collage
