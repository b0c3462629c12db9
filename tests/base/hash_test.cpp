#include "base/hash.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

// These values go into stores and plan files, so they may never change.
TEST(Hash, IsStableForEver) {
  EXPECT_EQ(hash_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_text(""), 0x2d06800538d394c2U);
}

TEST(Hash, DependsOnEveryByteAndTheSeed) {
  EXPECT_NE(hash_hex("ab"), hash_hex("ac"));
  EXPECT_NE(hash_text("ab", 1), hash_text("ab", 2));
  EXPECT_EQ(hash_text("ab", 1), hash_bytes("ab", 2, 1));
  EXPECT_EQ(hash_hex("ab").size(), 32U);
}

}  // namespace
}  // namespace collage
