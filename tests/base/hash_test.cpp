#include "base/hash.h"

#include <gtest/gtest.h>

#include <array>

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

TEST(Hash, OfPiecesIsThatOfTheWhole) {
  std::string text(1000, 'x');
  text += "the end";
  const std::string_view whole = text;
  for (const std::size_t cut : {0, 1, 300, 1000, 1007}) {
    const std::array<std::string_view, 3> pieces = {whole.substr(0, cut), "", whole.substr(cut)};
    EXPECT_EQ(hash_hex(pieces), hash_hex(whole)) << cut;
  }
}

}  // namespace
}  // namespace collage
