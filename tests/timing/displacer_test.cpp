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

}  // namespace
}  // namespace collage
