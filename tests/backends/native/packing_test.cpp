// Weights in the order in which inner loops read them.
#include "packing.h"

#include "base/narrow_float.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/support/dice.h"

namespace collage::native {
namespace {

using testing::ElementsAre;

/// 1, 2, 3, ...: every element different, none zero.
Tensor counting(const Extents& extents) {
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  std::iota(values.begin(), values.end(), 1.F);
  return make_tensor(ElementType::kFloat32, extents, values);
}

Tensor counting_bytes(const Extents& extents) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(extents)));
  std::iota(values.begin(), values.end(), std::int8_t{1});
  return make_tensor(ElementType::kInt8, extents, values);
}

template <class T = float>
std::vector<T> packed(const Packing& packing, const Tensor& source) {
  const auto bytes = pack(packing, source);
  EXPECT_TRUE(bytes) << to_string(bytes.error());
  if (!bytes) return {};
  EXPECT_EQ(bytes->size(), packed_bytes(packing, source));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes->data()) % 64, 0U);
  const auto values = bytes->as<T>();
  return {values.begin(), values.end()};
}

Packing panels(Extents numbers) { return {.kind = PackingKind::kPanels, .numbers = std::move(numbers)}; }
Packing quads(Extents numbers) { return {.kind = PackingKind::kQuads, .numbers = std::move(numbers)}; }
Packing winograd_rows(Extents numbers) { return {.kind = PackingKind::kWinogradRows, .numbers = std::move(numbers)}; }
Packing winograd(Extents numbers) { return {.kind = PackingKind::kWinograd, .numbers = std::move(numbers)}; }

TEST(Panels, FillTheTailWithZeros) {
  // Weights [3][2][1][2]: outputs, inputs, two taps.
  EXPECT_THAT(packed(panels({3, 2, 2, 4, 1, 2, 2}), counting({3, 2, 1, 2})), ElementsAre(1, 5, 3, 7, 2, 6, 4, 8,  //
                                                                                         9, 0, 11, 0, 10, 0, 12, 0));
}

TEST(Panels, TakeAnyStrides) {
  // A [2 x 3] matrix with outputs along its columns, and its transpose.
  EXPECT_THAT(packed(panels({3, 1, 2, 1, 1, 3, 4}), counting({2, 3})), ElementsAre(1, 2, 3, 0, 4, 5, 6, 0));
  EXPECT_THAT(packed(panels({2, 1, 3, 3, 1, 1, 4}), counting({2, 3})), ElementsAre(1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0));
}

TEST(Panels, AreOnePanelOfAllOutputsWhenTheBlockIsAsLarge) {
  // Depthwise: five channels of one tap each.
  EXPECT_THAT(packed(panels({5, 1, 1, 1, 1, 1, 5}), counting({5, 1, 1, 1})), ElementsAre(1, 2, 3, 4, 5));
}

TEST(Panels, TakeOutputsInGroups) {
  // Weights of a transposed convolution [4][2]: two groups of two inputs with two outputs each.
  EXPECT_THAT(packed(panels({4, 1, 2, 1, 1, 2, 4, 2, 4}), counting({4, 2})), ElementsAre(1, 2, 5, 6, 3, 4, 7, 8));
}

TEST(WinogradRows, TransformTheAxesThatHaveATileAlone) {
  // Weights [1][2][1][3][2]: two channels with taps (1, 3, 5) and (2, 4, 6), (7, 9, 11) and (8, 10, 12) along height,
  // for two places of a row. Each has the points g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2.
  EXPECT_THAT(packed(winograd_rows({1, 2, 1, 3, 2, 1, 2, 1}), counting({1, 2, 1, 3, 2})),
              ElementsAre(1, 7, 2, 8, 4.5, 13.5, 6, 15, 1.5, 4.5, 2, 5, 5, 11, 6, 12));
  // The same taps along depth are the same numbers.
  EXPECT_EQ(packed(winograd_rows({1, 2, 3, 1, 2, 2, 1, 1}), counting({1, 2, 3, 1, 2})),
            packed(winograd_rows({1, 2, 1, 3, 2, 1, 2, 1}), counting({1, 2, 1, 3, 2})));
}

TEST(WinogradRows, OfBothAxesAndOnePlaceAreThoseOfWinograd) {
  for (const std::int64_t tile : {2, 4})
    EXPECT_EQ(packed(winograd_rows({3, 2, 3, 3, 1, tile, tile, 2}), counting({3, 2, 3, 3, 1})),
              packed(winograd({3, 2, tile, 2}), counting({3, 2, 3, 3})));
}

TEST(Quads, FillBothTailsWithZeros) {
  // Weights [3][5]: blocks of two outputs, five inputs in two quads.
  EXPECT_THAT(packed<std::int8_t>(quads({3, 1, 5, 5, 1, 1, 2}), counting_bytes({3, 5})),
              ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 5, 0, 0, 0, 10, 0, 0, 0,  //
                          11, 12, 13, 14, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0));
}

TEST(Quads, TakeAnyStrides) {
  // A [4 x 2] matrix with outputs along its columns.
  EXPECT_THAT(packed<std::int8_t>(quads({2, 1, 4, 1, 1, 2, 2}), counting_bytes({4, 2})),
              ElementsAre(1, 3, 5, 7, 2, 4, 6, 8));
}

TEST(Quads, TakeUnsignedBytesLess128) {
  const Tensor source = make_tensor<std::uint8_t>(ElementType::kUint8, {1, 3}, {0, 128, 255});
  EXPECT_THAT(packed<std::int8_t>(quads({1, 1, 3, 3, 1, 1, 2}), source), ElementsAre(-128, 0, 127, 0, 0, 0, 0, 0));
}

TEST(Pairs, AreTheBytesOfQuadsAs16Bits) {
  const auto pairs = [](Extents numbers) {
    return Packing{.kind = PackingKind::kPairs, .numbers = std::move(numbers)};
  };
  // Weights [3][3]: blocks of two outputs, three inputs in two pairs.
  EXPECT_THAT(packed<std::int16_t>(pairs({3, 1, 3, 3, 1, 1, 2}), counting_bytes({3, 3})),
              ElementsAre(1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0));
  const Tensor source = make_tensor<std::uint8_t>(ElementType::kUint8, {1, 2}, {0, 255});
  EXPECT_THAT(packed<std::int16_t>(pairs({1, 1, 2, 2, 1, 1, 1}), source), ElementsAre(-128, 127));
}

TEST(QuadSums, AreThoseOfThePackedBytesOfEachOutput) {
  const auto sums = [](Packing packing) {
    packing.kind = PackingKind::kQuadSums;
    return packing;
  };
  // Three outputs of two inputs with two taps each, in blocks of two.
  EXPECT_THAT(packed<std::int32_t>(sums(quads({3, 2, 2, 4, 1, 2, 2})), counting_bytes({3, 2, 2})),
              ElementsAre(10, 26, 42, 0));
  const Tensor source = make_tensor<std::uint8_t>(ElementType::kUint8, {1, 3}, {0, 128, 255});
  EXPECT_THAT(packed<std::int32_t>(sums(quads({1, 1, 3, 3, 1, 1, 2})), source), ElementsAre(-1, 0));
}

TEST(Panels, MakeFloatsOfBytes) {
  EXPECT_THAT(packed(panels({2, 1, 2, 2, 1, 1, 2}), counting_bytes({2, 2})), ElementsAre(1, 3, 2, 4));
  const Tensor source = make_tensor<std::uint8_t>(ElementType::kUint8, {2}, {255, 7});
  EXPECT_THAT(packed(panels({2, 1, 1, 1, 1, 1, 2}), source), ElementsAre(255, 7));
}

TEST(Packing, OfNothingIsTheConstantItself) {
  const Tensor source = counting({2, 3});
  const auto bytes = pack({}, source);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->data(), source.data.data());
  EXPECT_EQ(packed_bytes({}, source), source.data.size());
}

TEST(Packing, AgreesWithItsDefinitionAtRandom) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const auto one = [&](std::size_t most) { return static_cast<std::int64_t>(1 + dice.below(most)); };
    const std::int64_t out = one(9), taps = one(4), in = one(6), block = one(5);
    const Tensor source = counting({out, in, taps});
    const auto seen = packed(panels({out, taps, in, in * taps, 1, taps, block}), source);
    const auto from = source.data.as<float>();
    std::size_t next = 0;
    for (std::int64_t o = 0; o < out; o += block)
      for (std::int64_t t = 0; t < taps; ++t)
        for (std::int64_t i = 0; i < in; ++i)
          for (std::int64_t b = 0; b < block; ++b, ++next)
            ASSERT_EQ(seen.at(next), o + b < out ? from[static_cast<std::size_t>(((o + b) * in + i) * taps + t)] : 0.F);
    EXPECT_EQ(next, seen.size());
  }
}

std::vector<float> narrow_numbers(PackingKind kind, const Extents& numbers, const Tensor& source) {
  const auto widened = kind == PackingKind::kHalfPanels ? from_half : from_bfloat;
  const auto bytes = pack({.kind = kind, .numbers = numbers}, source);
  EXPECT_TRUE(bytes);
  std::vector<float> out;
  if (bytes)
    for (const std::uint16_t bits : bytes->as<std::uint16_t>()) out.push_back(widened(bits));
  return out;
}

TEST(Packing, PairsOfNarrowNumbersEndWithZeros) {
  // Three inputs of three outputs in blocks of two.
  const Tensor source = make_tensor<float>(ElementType::kFloat32, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(narrow_numbers(PackingKind::kBfloatPairs, {3, 1, 3, 3, 1, 1, 2}, source),
            (std::vector<float>{1, 2, 4, 5, 3, 0, 6, 0, 7, 8, 0, 0, 9, 0, 0, 0}));
  EXPECT_EQ(narrow_numbers(PackingKind::kBfloatPanels, {3, 1, 3, 3, 1, 1, 2}, source),
            (std::vector<float>{1, 4, 2, 5, 3, 6, 7, 0, 8, 0, 9, 0}));
  EXPECT_EQ(narrow_numbers(PackingKind::kHalfPanels, {3, 1, 3, 3, 1, 1, 2}, source),
            (std::vector<float>{1, 4, 2, 5, 3, 6, 7, 0, 8, 0, 9, 0}));
}

TEST(Packing, RoundsNarrowNumbersToTheNearest) {
  const Tensor source = make_tensor<float>(ElementType::kFloat32, {1, 2}, {1.0F + 0x1p-8F + 0x1p-12F, -3.0F});
  EXPECT_EQ(narrow_numbers(PackingKind::kBfloatPairs, {1, 1, 2, 2, 1, 1, 1}, source),
            (std::vector<float>{1.0F + 0x1p-7F, -3.0F}));
  EXPECT_EQ(narrow_numbers(PackingKind::kHalfPanels, {1, 1, 2, 2, 1, 1, 1}, source),
            (std::vector<float>{1.0F + 0x1p-8F, -3.0F}));
}

std::string refusal(const Packing& packing, const Tensor& source) {
  const auto bytes = pack(packing, source);
  return bytes ? "" : bytes.error().code;
}

TEST(Packing, IsRefusedWhenItDoesNotFitTheConstant) {
  const Tensor source = counting({3, 4});
  EXPECT_EQ(refusal(panels({3, 1, 4, 4, 1, 1, 2}), source), "");
  for (const Extents& numbers : std::vector<Extents>{{},
                                                     {3, 1, 4, 4, 1, 1},
                                                     {3, 1, 4, 4, 1, 1, 2, 0},
                                                     {4, 1, 4, 4, 1, 1, 2},
                                                     {3, 2, 4, 4, 1, 1, 2},
                                                     {3, 1, 5, 4, 1, 1, 2},
                                                     {3, 1, 4, 5, 1, 1, 2},
                                                     {3, 1, 4, 4, 1, 1, 0},
                                                     {3, 1, 4, 4, 1, 1, -2},
                                                     {0, 1, 4, 4, 1, 1, 2},
                                                     {-3, 1, 4, 4, 1, 1, 2},
                                                     {3, 1, 4, -4, 1, 1, 2},
                                                     {3, 1, 4, 4, 1, 0, 2},
                                                     {3, 1, 4, 4, 1, 1, 2, 2, 4},
                                                     {3, 1, 4, 4, 1, 1, 2, 1, 5},
                                                     {3, 1, 4, 4, 1, 1, 2, 0, 4}})
    EXPECT_EQ(refusal(panels(numbers), source), "backend/bad-artifact") << testing::PrintToString(numbers);
  const Tensor wide = make_tensor<std::int32_t>(ElementType::kInt32, {2}, {1, 2});
  EXPECT_EQ(refusal(panels({2, 1, 1, 1, 1, 1, 2}), wide), "backend/bad-artifact");
  EXPECT_EQ(refusal(quads({3, 1, 4, 4, 1, 1, 2}), source), "backend/bad-artifact");
  EXPECT_EQ(refusal({.kind = PackingKind::kBfloatPairs, .numbers = {3, 1, 4, 4, 1, 1, 2}}, wide),
            "backend/bad-artifact");
  EXPECT_EQ(refusal(quads({3, 1, 5, 4, 1, 1, 2}), counting_bytes({3, 4})), "backend/bad-artifact");
}

TEST(Packing, IsRefusedWhenWinogradDoesNotFitTheConstant) {
  const Tensor source = counting({3, 2, 3, 3});
  EXPECT_EQ(refusal(winograd({3, 2, 2, 4}), source), "");
  for (const Extents& numbers : std::vector<Extents>{
           {}, {3, 2, 2}, {3, 2, 3, 4}, {3, 2, 6, 4}, {2, 2, 2, 4}, {3, 3, 2, 4}, {3, 2, 2, 0}, {-3, -2, 2, 4}})
    EXPECT_EQ(refusal(winograd(numbers), source), "backend/bad-artifact") << testing::PrintToString(numbers);
}

TEST(Packing, IsRefusedWhenWinogradRowsDoNotFitTheConstant) {
  const Tensor source = counting({3, 2, 1, 3, 5});
  EXPECT_EQ(refusal(winograd_rows({3, 2, 1, 3, 5, 1, 4, 4}), source), "");
  for (const Extents& numbers : std::vector<Extents>{{3, 2, 4, 4},
                                                     {3, 2, 1, 3, 5, 1, 3, 4},
                                                     {3, 2, 1, 3, 5, 2, 4, 4},
                                                     {3, 2, 3, 1, 5, 1, 4, 4},
                                                     {3, 2, 1, 3, 4, 1, 4, 4},
                                                     {3, 2, 1, 3, 5, 1, 4, 0},
                                                     {-3, -2, 1, 3, 5, 1, 4, 4}})
    EXPECT_EQ(refusal(winograd_rows(numbers), source), "backend/bad-artifact") << testing::PrintToString(numbers);
}

Packing fixed_pairs(Extents numbers) { return {.kind = PackingKind::kFixedPairs, .numbers = std::move(numbers)}; }
Packing fixed_scales(Extents numbers) { return {.kind = PackingKind::kFixedScales, .numbers = std::move(numbers)}; }

TEST(FixedPointPacking, IsInUnitsOfTheLargestWeightOfEachOutput) {
  // Two outputs of two inputs; sums are so short that only the largest weight matters.
  const Tensor weights = make_tensor(ElementType::kFloat32, {2, 2}, std::vector<float>{1.F, -0.5F, 0.F, 4.F});
  const Extents numbers = {2, 1, 2, 2, 1, 1, 2, 2, 1, 16383};
  EXPECT_THAT(packed<std::int16_t>(fixed_pairs(numbers), weights), ElementsAre(32767, -16384, 0, 32767));
  EXPECT_THAT(packed(fixed_scales(numbers), weights), ElementsAre(1.F / 32767, 4.F / 32767));
}

TEST(FixedPointPacking, LeavesRoomForEverySum) {
  constexpr std::int64_t kInputs = 96, kTaps = 6, kLevels = 8191;
  Dice dice(7);
  std::vector<float> values(static_cast<std::size_t>(5 * kInputs * kTaps));
  for (float& value : values) value = (static_cast<float>(dice.below(2001)) - 1000) / 7.F;
  const Tensor weights = make_tensor(ElementType::kFloat32, {5, kInputs, kTaps}, values);
  // Sums over 48 inputs and three neighbouring taps.
  const Extents numbers = {5, kTaps, kInputs, kInputs * kTaps, 1, kTaps, 8, 48, 3, kLevels};
  const auto pairs = packed<std::int16_t>(fixed_pairs(numbers), weights);
  const auto scales = packed(fixed_scales(numbers), weights);
  for (std::int64_t out = 0; out < 5; ++out) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sums;
    for (std::int64_t tap = 0; tap < kTaps; ++tap)
      for (std::int64_t in = 0; in < kInputs; ++in) {
        const auto at = static_cast<std::size_t>(((tap * kInputs / 2 + in / 2) * 8 + out) * 2 + in % 2);
        const auto given = static_cast<std::size_t>((out * kInputs + in) * kTaps + tap);
        EXPECT_NEAR(static_cast<float>(pairs[at]) * scales[static_cast<std::size_t>(out)], values[given],
                    0.51F * scales[static_cast<std::size_t>(out)]);
        sums[{in / 48, tap / 3}] += std::abs(pairs[at]) * kLevels;
      }
    for (const auto& [chunk, sum] : sums) EXPECT_LE(sum, std::numeric_limits<std::int32_t>::max());
  }
}

/// Against the transformed weights in f32.
TEST(FixedPointPacking, OfTransformedWeightsHasAUnitForEachOutputAndPoint) {
  constexpr std::int64_t kOut = 5, kIn = 6, kBlock = 4, kArea = 16;
  Dice dice(11);
  std::vector<float> values(kOut * kIn * 9);
  for (float& value : values) value = (static_cast<float>(dice.below(2001)) - 1000) / 7.F;
  const Tensor weights = make_tensor(ElementType::kFloat32, {kOut, kIn, 3, 3}, values);
  const auto transformed = packed(winograd({kOut, kIn, 2, kBlock}), weights);
  const Extents numbers = {kOut, kIn, 2, kBlock, 2, 16383};
  const auto pairs = packed<std::int16_t>({.kind = PackingKind::kFixedWinograd, .numbers = numbers}, weights);
  const auto scales = packed({.kind = PackingKind::kFixedWinogradScales, .numbers = numbers}, weights);
  ASSERT_EQ(scales.size(), 2U * kArea * kBlock);
  for (std::int64_t unit = 0; unit < 2 * kArea * kBlock; ++unit)
    for (std::int64_t in = 0; in < kIn; ++in) {
      const std::int64_t first = unit / kBlock * kIn * kBlock;
      const float given = transformed[static_cast<std::size_t>(first + in * kBlock + unit % kBlock)];
      const std::int16_t made =
          pairs[static_cast<std::size_t>(first + in / 2 * kBlock * 2 + unit % kBlock * 2 + in % 2)];
      const float scale = scales[static_cast<std::size_t>(unit)];
      EXPECT_NEAR(static_cast<float>(made) * scale, given, 0.51F * scale) << unit << ", " << in;
    }
}

TEST(FixedPointPacking, HasNoUnitForWeightsThatAreNotFinite) {
  const Tensor weights = make_tensor(ElementType::kFloat32, {3, 2},
                                     std::vector<float>{std::numeric_limits<float>::infinity(), 1.F,
                                                        std::numeric_limits<float>::quiet_NaN(), 1.F, 0.F, 0.F});
  const Extents numbers = {3, 1, 2, 2, 1, 1, 3, 2, 1, 8191};
  EXPECT_THAT(packed<std::int16_t>(fixed_pairs(numbers), weights), testing::Each(0));
  const auto scales = packed(fixed_scales(numbers), weights);
  EXPECT_TRUE(std::isnan(scales[0]) && std::isnan(scales[1]));
  EXPECT_EQ(scales[2], 0.F);
}

TEST(FixedPointPacking, IsRefusedWhenItDoesNotFitTheConstant) {
  const Tensor source = counting({4, 6, 3});
  const auto with = [](std::int64_t inputs, std::int64_t taps, std::int64_t levels) {
    return Extents{4, 3, 6, 18, 1, 3, 2, inputs, taps, levels};
  };
  EXPECT_EQ(refusal(fixed_pairs(with(6, 3, 8191)), source), "");
  EXPECT_EQ(refusal(fixed_scales(with(2, 1, 32767)), source), "");
  for (const Extents& numbers :
       {with(4, 3, 8191), with(6, 2, 8191), with(0, 3, 8191), with(6, 3, 0), with(6, 3, 32768), with(-6, 3, 8191),
        with(6, -3, 8191), Extents{4, 3, 6, 18, 1, 3, 2}, Extents{4, 3, 6, 19, 1, 3, 2, 6, 3, 8191}, Extents{}})
    EXPECT_EQ(refusal(fixed_pairs(numbers), source), "backend/bad-artifact") << testing::PrintToString(numbers);
  EXPECT_EQ(refusal(fixed_pairs(with(6, 3, 8191)), counting_bytes({4, 6, 3})), "backend/bad-artifact");
  const Tensor filters = counting({4, 6, 3, 3});
  const auto transformed = [](Extents extents) {
    return Packing{.kind = PackingKind::kFixedWinograd, .numbers = std::move(extents)};
  };
  EXPECT_EQ(refusal(transformed({4, 6, 4, 2, 6, 8191}), filters), "");
  for (const Extents& numbers : std::vector<Extents>{
           {4, 6, 4, 2, 4, 8191}, {4, 6, 4, 2, 0, 8191}, {4, 6, 4, 2, 6, 0}, {4, 6, 3, 2, 6, 8191}, {4, 6, 4, 2}, {}})
    EXPECT_EQ(refusal(transformed(numbers), filters), "backend/bad-artifact") << testing::PrintToString(numbers);
}

TEST(Packing, HasNamesThatReadBack) {
  for (const PackingKind kind :
       {PackingKind::kNone, PackingKind::kPanels, PackingKind::kWinograd, PackingKind::kQuads, PackingKind::kPairs,
        PackingKind::kQuadSums, PackingKind::kBfloatPanels, PackingKind::kBfloatPairs, PackingKind::kHalfPanels,
        PackingKind::kWinogradRows, PackingKind::kFixedPairs, PackingKind::kFixedScales, PackingKind::kFixedWinograd,
        PackingKind::kFixedWinogradScales})
    EXPECT_EQ(packing_kind_of(name_of(kind)), kind);
  EXPECT_EQ(packing_kind_of("panel"), std::nullopt);
  EXPECT_EQ(packing_kind_of(""), std::nullopt);
}

}  // namespace
}  // namespace collage::native
