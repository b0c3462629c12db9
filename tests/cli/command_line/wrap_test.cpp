#include "cli/wrap.h"

#include <gtest/gtest.h>

namespace collage::cli {
namespace {

TEST(Wrap, LeavesLinesThatFit) {
  EXPECT_EQ(with_wrapped_lines("", 10), "");
  EXPECT_EQ(with_wrapped_lines("a b\n\n  c  d\n", 10), "a b\n\n  c  d\n");
  EXPECT_EQ(with_wrapped_lines("1234567890", 10), "1234567890");
}

TEST(Wrap, BreaksBetweenWordsAndIndentsTheRest) {
  EXPECT_EQ(with_wrapped_lines("note: one two three\n", 12), "note: one\n  two three\n");
  EXPECT_EQ(with_wrapped_lines("  offers one two three four", 14), "  offers one\n    two three\n    four");
}

TEST(Wrap, BreaksBehindCommasWhereThereIsNoSpace) {
  EXPECT_EQ(with_wrapped_lines("  rows=2,tile_x=5,unroll=4", 14), "  rows=2,\n    tile_x=5,\n    unroll=4");
}

TEST(Wrap, KeepsWordsThatAreLongerThanALine) {
  EXPECT_EQ(with_wrapped_lines("/a/very/long/path and more", 8), "/a/very/long/path\n  and\n  more");
  EXPECT_EQ(with_wrapped_lines("/a/very/long/path", 8), "/a/very/long/path");
}

TEST(Wrap, CountsCharactersAndNotBytes) {
  EXPECT_EQ(with_wrapped_lines("\xc3\xa4\xc3\xb6\xc3\xbc x", 5), "\xc3\xa4\xc3\xb6\xc3\xbc x");
}

}  // namespace
}  // namespace collage::cli
