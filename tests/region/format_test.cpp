#include "region/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "region/refusal.h"

namespace collage {
namespace {

ValueType type_of(std::string_view text) {
  const auto type = parse_value_type(text);
  EXPECT_TRUE(type) << text;
  return type.value_or(ValueType{});
}

/// Bytes that differ from element to element.
std::vector<std::uint8_t> sample(const ValueType& type) {
  std::vector<std::uint8_t> bytes(byte_count(type.element, type.extents()));
  std::uint32_t state = 1;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

std::vector<std::uint8_t> converted(const ValueType& type, const Format& from, const std::vector<std::uint8_t>& in,
                                    const Format& to) {
  std::vector<std::uint8_t> out(in.size(), 0xee);
  convert_common_format(type, from, in.data(), to, out.data());
  return out;
}

/// channels_last element by element, straight from its definition.
std::vector<std::uint8_t> slow_channels_last(const ValueType& type, const std::vector<std::uint8_t>& in) {
  const Extents extents = type.extents();
  const std::int64_t channels = extents[1];
  const std::int64_t pixels = std::accumulate(extents.begin() + 2, extents.end(), std::int64_t{1}, std::multiplies<>{});
  const auto width = static_cast<std::size_t>(bits_of(type.element) / 8);
  std::vector<std::uint8_t> out(in.size());
  for (std::int64_t n = 0; n < extents[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < pixels; ++p)
        std::memcpy(&out[static_cast<std::size_t>((n * pixels + p) * channels + c) * width],
                    &in[static_cast<std::size_t>((n * channels + c) * pixels + p) * width], width);
  return out;
}

class ConvertFormat : public testing::TestWithParam<const char*> {};

TEST_P(ConvertFormat, PermutesAndComesBack) {
  const ValueType type = type_of(GetParam());
  const auto plain_bytes = sample(type);
  const auto last_bytes = converted(type, plain(), plain_bytes, channels_last());
  EXPECT_EQ(last_bytes, slow_channels_last(type, plain_bytes));
  EXPECT_EQ(converted(type, channels_last(), last_bytes, plain()), plain_bytes);
  EXPECT_EQ(converted(type, plain(), plain_bytes, plain()), plain_bytes);
}

TEST_P(ConvertFormat, SameBytesExactlyWhenNothingMoves) {
  const ValueType type = type_of(GetParam());
  const auto bytes = sample(type);
  EXPECT_EQ(same_bytes(type, plain(), channels_last()), slow_channels_last(type, bytes) == bytes);
  EXPECT_EQ(same_bytes(type, channels_last(), plain()), slow_channels_last(type, bytes) == bytes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvertFormat,
                         testing::Values("f32[1,3,4,5]", "f32[2,33,31,1]", "f32[2,64,8,8]", "u8[3,5,7]", "f16[2,32,33]",
                                         "f64[1,3,2,3,4]", "c128[2,3,2,2]", "f32[2,1,9,9]", "f32[2,9,1,1]",
                                         "f32[2,9,1]", "i64[1,1,1,1,1]", "f32[0,3,4,4]", "f32[2,0,4,4]", "f32[2,3,0,4]",
                                         "bool[1,100,100]", "bf16[2,3,65,2]"));

TEST(Format, ChannelsLastNeedsRankThreeToFiveAndWholeBytes) {
  for (const char* text : {"f32[1,2,3]", "f32[N,2,?,4]", "u8[1,2,3,4,5]"})
    EXPECT_TRUE(can_be_channels_last(type_of(text))) << text;
  for (const char* text :
       {"f32[]", "f32[1,2]", "f32[1,2,3,4,5,6]", "f32[*]", "u4[1,2,3]", "str[1,2,3]", "?", "seq(f32[1,2,3])"})
    EXPECT_FALSE(can_be_channels_last(type_of(text))) << text;
}

TEST(Format, SameBytesNeedsKnownExtentsAndCommonFormats) {
  EXPECT_TRUE(same_bytes(type_of("f32[N]"), plain(), plain()));
  EXPECT_TRUE(same_bytes(type_of("f32[N]"), Format{"a:b"}, Format{"a:b"}));
  EXPECT_FALSE(same_bytes(type_of("f32[N,1,4,4]"), plain(), channels_last()));
  EXPECT_FALSE(same_bytes(type_of("f32[2,1]"), plain(), channels_last()));
  EXPECT_FALSE(same_bytes(type_of("f32[1,1,4,4]"), plain(), Format{"onednn:nChw16c"}));
}

TEST(Format, NamedFormatsHaveAnOwner) {
  EXPECT_EQ(Format{"onednn:nChw16c"}.owner(), "onednn");
  EXPECT_EQ(plain().owner(), "");
  EXPECT_EQ(channels_last().owner(), "");
  EXPECT_TRUE(Format{}.is_plain());
  EXPECT_TRUE(channels_last().is_channels_last());
}

TEST(FormatDeathTest, NamedFormatsAreTheirOwnersBusiness) {
  const ValueType type = type_of("f32[1,2,3,3]");
  std::vector<std::uint8_t> bytes = sample(type);
  EXPECT_DEATH(convert_common_format(type, plain(), bytes.data(), Format{"a:b"}, bytes.data()), "plain to a:b");
}

TEST(Refusal, EveryReasonHasANameThatReadsBack) {
  for (int i = 0; i <= static_cast<int>(RefusalReason::kResources); ++i) {
    const auto reason = static_cast<RefusalReason>(i);
    EXPECT_NE(name_of(reason), "unknown");
    EXPECT_EQ(refusal_reason_of(name_of(reason)), reason);
  }
  EXPECT_EQ(name_of(RefusalReason::kWrongResult), "wrong-result");
  EXPECT_EQ(refusal_reason_of("no such reason"), std::nullopt);
}

constexpr ElementType kBfloat16 = ElementType::kBfloat16;

TEST(NarrowFormat, IsTheSameOrderOfSmallerElements) {
  const Format narrow = stored_as(channels_last(), kBfloat16);
  EXPECT_EQ(narrow.name, "channels_last.bf16");
  EXPECT_EQ(narrow.narrow(), kBfloat16);
  EXPECT_EQ(narrow.full(), channels_last());
  EXPECT_EQ(stored_as(plain(), ElementType::kFloat16).narrow(), ElementType::kFloat16);
  EXPECT_EQ(stored_as(Format{"onednn:nChw16c"}, kBfloat16).owner(), "onednn");
  EXPECT_EQ(channels_last().narrow(), std::nullopt);
}

TEST(NarrowFormat, IsNeitherPlainNorChannelsLastToWhoDoesNotAsk) {
  EXPECT_FALSE(stored_as(plain(), kBfloat16).is_plain());
  EXPECT_FALSE(stored_as(channels_last(), kBfloat16).is_channels_last());
  EXPECT_TRUE(is_common(stored_as(plain(), kBfloat16)));
  EXPECT_FALSE(is_common(stored_as(Format{"a:b"}, kBfloat16)));
}

TEST(NarrowFormat, OnlyFloatsHaveIt) {
  const Format narrow = stored_as(plain(), kBfloat16);
  EXPECT_TRUE(can_have_common_format(type_of("f32[2,3]"), narrow));
  EXPECT_FALSE(can_have_common_format(type_of("f32[2,3]"), stored_as(channels_last(), kBfloat16)));
  EXPECT_FALSE(can_have_common_format(type_of("i64[2,3]"), narrow));
  EXPECT_FALSE(can_have_common_format(type_of("f16[2,3]"), narrow));
  EXPECT_EQ(common_format_bytes(type_of("f32[2,3]"), narrow), 12U);
  EXPECT_EQ(common_format_bytes(type_of("i64[2,3]"), narrow), std::nullopt);
}

TEST(NarrowFormat, SharesBytesWithItsKindOnly) {
  const ValueType type = type_of("f32[1,1,4,4]");
  EXPECT_TRUE(same_bytes(type, stored_as(plain(), kBfloat16), stored_as(channels_last(), kBfloat16)));
  EXPECT_FALSE(same_bytes(type, plain(), stored_as(plain(), kBfloat16)));
}

TEST(NarrowFormat, ConvertsWithRoundingToTheNearestTiesToEven) {
  const ValueType type = type_of("f32[1,2,1,2]");
  const std::vector<float> values = {1.00390625F, 1.01171875F, -3.0F, 1e30F};  // two ties, two that fit or round
  std::vector<std::uint16_t> narrow(4);
  convert_common_format(type, plain(), values.data(), stored_as(channels_last(), kBfloat16), narrow.data());
  EXPECT_EQ(narrow[0], 0x3f80);
  EXPECT_EQ(narrow[1], 0xc040);
  EXPECT_EQ(narrow[2], 0x3f82);
  std::vector<float> back(4);
  convert_common_format(type, stored_as(channels_last(), kBfloat16), narrow.data(), plain(), back.data());
  EXPECT_EQ(back[0], 1.0F);
  EXPECT_EQ(back[1], 1.015625F);
  EXPECT_EQ(back[2], -3.0F);
  EXPECT_NEAR(back[3] / 1e30F, 1, 4e-3);
}

TEST(NarrowFormat, KeepsInfinityNanAndZerosOfBothSigns) {
  const ValueType type = type_of("f32[6]");
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                                     0.0F,     -0.0F,     70000.0F};
  for (const ElementType element : {kBfloat16, ElementType::kFloat16}) {
    std::vector<std::uint16_t> narrow(6);
    std::vector<float> back(6);
    convert_common_format(type, plain(), values.data(), stored_as(plain(), element), narrow.data());
    convert_common_format(type, stored_as(plain(), element), narrow.data(), plain(), back.data());
    EXPECT_EQ(back[0], infinity);
    EXPECT_EQ(back[1], -infinity);
    EXPECT_TRUE(std::isnan(back[2]));
    EXPECT_FALSE(std::signbit(back[3]));
    EXPECT_TRUE(std::signbit(back[4]));
    EXPECT_EQ(std::isinf(back[5]), element == ElementType::kFloat16) << "70000 is beyond the largest float16";
  }
}

}  // namespace
}  // namespace collage
