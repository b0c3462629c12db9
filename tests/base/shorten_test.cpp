#include "base/shorten.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(Shorten, CutsLongTextsBetweenCharacters) {
  EXPECT_EQ(shortened("", 3), "");
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("ab\u00e4cdef", 6), "ab...");
  EXPECT_EQ(shortened("ab\u20accdef", 7), "ab...");
  EXPECT_EQ(shortened("ab\u20accdef", 8), "ab\u20ac...");
}

}  // namespace
}  // namespace collage
