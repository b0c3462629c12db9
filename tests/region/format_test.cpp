#include "region/format.h"

#include <gtest/gtest.h>

#include <cstring>
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

}  // namespace
}  // namespace collage
