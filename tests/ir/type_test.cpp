#include "ir/type.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/broadcast.h"
#include "tests/support/dice.h"

namespace collage {
namespace {

ValueType type_of_text(std::string_view text) {
  const auto type = parse_value_type(text);
  EXPECT_TRUE(type) << text;
  return type.value_or(ValueType{});
}

TEST(Type, EveryElementNameReadsBack) {
  for (int i = 0; i <= 26; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_of(name_of(type)), type) << i;
  }
  EXPECT_EQ(element_type_of("f33"), std::nullopt);
  EXPECT_EQ(name_of(static_cast<ElementType>(200)), "undef");
}

TEST(Type, TextFormReadsBack) {
  for (const char* text : {"f32[1,3,224,224]", "i64[N,?]", "f32[*]", "seq(f32[2])", "opt(seq(str[]))", "?", "f32[]",
                           "bf16[\"batch size\",\"3\",N=4]", "undef[*]", "u4[0]", "i64[9223372036854775807]"})
    EXPECT_EQ(to_string(type_of_text(text)), text);
}

TEST(Type, TextFormTellsApartWhatDiffers) {
  EXPECT_NE(type_of_text("f32[]"), type_of_text("f32[*]"));
  EXPECT_NE(type_of_text("f32[N]"), type_of_text("f32[?]"));
  EXPECT_NE(type_of_text("f32[\"3\"]"), type_of_text("f32[3]"));
  EXPECT_EQ(type_of_text("f32[N=4]").shape->front(), (Dim{.extent = 4, .symbol = "N"}));
}

TEST(Type, RefusesMalformedText) {
  for (const char* text : {"",        "f32",     "f32[",      "f32[1",      "f32[1,",
                           "f32[1,]", "f32[,1]", "f33[1]",    "f32[1]]",    "f32[-1]",
                           "f32[ 1]", "seq",     "seq(",      "seq(f32[1]", "f32[9223372036854775808]",
                           "f32[N=]", "f32[\"]", "f32[\"\"]", "??",         "f32[*,1]"})
    EXPECT_FALSE(parse_value_type(text)) << text;
}

TEST(Type, RefusesDeepNestingWithoutExhaustingTheStack) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "seq(";
  EXPECT_FALSE(parse_value_type(text));
}

TEST(Type, SurvivesRandomText) {
  Dice dice(3);
  const std::string_view alphabet = "f32[]i64N?,*=\"\\x0seqopt()9";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t i = dice.below(12); i > 0; --i) text += alphabet[dice.below(alphabet.size())];
    if (const auto type = parse_value_type(text)) {
      EXPECT_EQ(parse_value_type(to_string(*type)), type) << text;
    }
  }
}

TEST(Type, StaticMeansEveryExtentAndTheElementSizeAreKnown) {
  EXPECT_TRUE(type_of_text("f32[1,2]").is_static());
  EXPECT_TRUE(type_of_text("f32[]").is_static());
  EXPECT_TRUE(type_of_text("f32[0]").is_static());
  for (const char* text : {"f32[N]", "f32[?]", "f32[*]", "str[2]", "seq(f32[2])", "?", "undef[2]"})
    EXPECT_FALSE(type_of_text(text).is_static()) << text;
  EXPECT_EQ(ValueType::tensor(ElementType::kInt64, {2, 3}), type_of_text("i64[2,3]"));
  EXPECT_EQ(type_of_text("i64[2,3]").extents(), (Extents{2, 3}));
}

TEST(Type, ExtentsAreBroadcastFromTheirEnds) {
  EXPECT_EQ(broadcast_extents({2, 3, 4}, {3, 1}), (Extents{2, 3, 4}));
  EXPECT_EQ(broadcast_extents({1, 4}, {5, 2, 1}), (Extents{5, 2, 4}));
  EXPECT_EQ(broadcast_extents({}, {7}), (Extents{7}));
  EXPECT_EQ(broadcast_extents({1}, {0}), (Extents{0})) << "no elements, not one";
  EXPECT_EQ(broadcast_extents({2, 3}, {3, 2}), std::nullopt);
}

TEST(Type, CountsElementsAndBytes) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  EXPECT_EQ(byte_count(ElementType::kFloat32, {2, 3}), 24U);
  EXPECT_EQ(byte_count(ElementType::kInt4, {3}), 2U);
  EXPECT_EQ(byte_count(ElementType::kUint2, {5}), 2U);
  EXPECT_EQ(byte_count(ElementType::kComplex128, {1}), 16U);
  EXPECT_EQ(byte_count(ElementType::kString, {4}), 0U);
}

TEST(Type, SaturatesInsteadOfOverflowing) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(element_count({huge, huge}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(element_count({huge, huge, 0}), 0);
  EXPECT_EQ(byte_count(ElementType::kFloat32, {huge, huge}), std::numeric_limits<std::size_t>::max());
}

}  // namespace
}  // namespace collage
