#include "numbers/compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/numbers/f32_tensor.h"

namespace collage {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

std::vector<float> wave(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 10.0F * std::sin(static_cast<float>(i));
  return values;
}

bool passes(const Tensor& seen, const Tensor& expected, Accuracy accuracy = Accuracy::kStandard) {
  return compare(seen, expected, accuracy, false).ok;
}

/// Whether an element of an output whose largest magnitude is 100 may be off by `error`.
bool allows(Accuracy accuracy, bool is_16bit, float value, float error) {
  return compare(f32({value + error, 100.0F}), f32({value, 100.0F}), accuracy, is_16bit).ok;
}

TEST(Compare, EqualTensorsPassWithNoError) {
  const Comparison result = compare(f32(wave(3000)), f32(wave(3000)), Accuracy::kStrict, false);
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.max_abs, 0);
  EXPECT_EQ(result.first_failing, -1);
  EXPECT_EQ(to_string(result), "equal");
}

TEST(Compare, BoundsAreThoseOfTheAccuracyClass) {
  // Of a zero: share * 100 + 1e-6.
  EXPECT_TRUE(allows(Accuracy::kStrict, false, 0, 1.0009e-3F));
  EXPECT_FALSE(allows(Accuracy::kStrict, false, 0, 1.002e-3F));
  EXPECT_TRUE(allows(Accuracy::kStandard, false, 0, 1.0000e-2F));
  EXPECT_FALSE(allows(Accuracy::kStandard, false, 0, 1.0002e-2F));
  EXPECT_TRUE(allows(Accuracy::kFast, false, 0, 0.999F));
  EXPECT_FALSE(allows(Accuracy::kFast, false, 0, 1.001F));
  EXPECT_TRUE(allows(Accuracy::kStrict, true, 0, 0.1999F));
  EXPECT_FALSE(allows(Accuracy::kStrict, true, 0, 0.2002F));
  // Of 50: the relative part on top.
  EXPECT_TRUE(allows(Accuracy::kStrict, false, 50, 5.9e-3F));
  EXPECT_FALSE(allows(Accuracy::kStrict, false, 50, 6.1e-3F));
  EXPECT_TRUE(allows(Accuracy::kStandard, false, 50, 5.9e-2F));
  EXPECT_FALSE(allows(Accuracy::kStandard, false, 50, 6.1e-2F));
  EXPECT_TRUE(allows(Accuracy::kFast, false, 50, 1.49F));
  EXPECT_FALSE(allows(Accuracy::kFast, false, 50, 1.51F));
  EXPECT_TRUE(allows(Accuracy::kFast, true, 50, 0.69F));
  EXPECT_FALSE(allows(Accuracy::kFast, true, 50, 0.71F));
}

TEST(Compare, ZeroOutputAllowsOnlyTheFloor) {
  EXPECT_TRUE(passes(f32({0.9e-6F}), f32({0})));
  EXPECT_FALSE(passes(f32({1.1e-6F}), f32({0})));
  EXPECT_FALSE(passes(f32({-1.1e-6F}), f32({0})));
}

TEST(Compare, LargestMagnitudeIsThatOfTheReferenceAndFinite) {
  EXPECT_FALSE(passes(f32({1.0F, 1e6F}), f32({0.0F, 1.0F})));
  EXPECT_FALSE(passes(f32({1.0F, kInf}), f32({0.0F, kInf})));
}

TEST(Compare, SaysWhereAndByHowMuch) {
  std::vector<float> seen = wave(3000);
  seen[2049] = 3.5F;
  seen[2999] = 7.0F;
  const Comparison result = compare(f32(seen), f32(wave(3000)), Accuracy::kStandard, false);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.first_failing, 2049);
  EXPECT_FLOAT_EQ(static_cast<float>(result.seen), 3.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(result.expected), wave(3000)[2049]);
  EXPECT_NEAR(result.allowed, 1e-4 * 10 + 1e-3 * std::abs(result.expected), 1e-5);
  EXPECT_GT(result.max_abs, 1.0);
  EXPECT_NE(to_string(result).find("element 2049: saw 3.5"), std::string::npos);
}

TEST(Compare, NanAndInfinitiesMustStandInTheSamePlaces) {
  const Tensor expected = f32({1, kNan, kInf, -kInf, 2});
  EXPECT_TRUE(passes(expected, expected));
  EXPECT_FALSE(passes(f32({1, 5, kInf, -kInf, 2}), expected));
  EXPECT_FALSE(passes(f32({kNan, kNan, kInf, -kInf, 2}), expected));
  EXPECT_FALSE(passes(f32({1, kNan, -kInf, -kInf, 2}), expected));
  EXPECT_FALSE(passes(f32({1, kNan, 3e38F, -kInf, 2}), expected));
  EXPECT_FALSE(passes(f32({1, kNan, kInf, kNan, 2}), expected));
  EXPECT_FALSE(passes(f32({1, kNan, kInf, -kInf, kInf}), expected));
  EXPECT_FALSE(passes(f32({kNan}), f32({kInf})));
}

TEST(Compare, ExtremesDoNotOverflowTheBound) {
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_TRUE(passes(f32({kMax, -kMax}), f32({kMax, -kMax})));
  EXPECT_FALSE(passes(f32({-kMax, -kMax}), f32({kMax, -kMax})));
  EXPECT_FALSE(passes(f32({kInf, 1}), f32({kMax, 1})));
}

/// A fault planted at every place where a vectorised loop may go wrong.
TEST(Compare, CatchesOneBadElementAnywhere) {
  for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 1023U, 1024U, 1025U, 2049U}) {
    const std::vector<float> right = wave(count);
    for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
      for (const float bad : {-right[at] + 1.0F, right[at] + 0.5F, kNan, kInf, -kInf, 1e30F}) {
        std::vector<float> wrong = right;
        wrong[at] = bad;
        const Comparison result = compare(f32(wrong), f32(right), Accuracy::kStandard, false);
        EXPECT_FALSE(result.ok) << count << " elements, number " << at << " is " << bad;
        EXPECT_EQ(result.first_failing, static_cast<std::int64_t>(at));
        EXPECT_FALSE(compare(f32(right), f32(wrong), Accuracy::kStandard, false).ok);
      }
    }
  }
}

TEST(Compare, NegativeAndZeroValuesAreCompared) {
  EXPECT_FALSE(passes(f32({-5, 0, -1}), f32({-1, 0, -1})));
  EXPECT_FALSE(passes(f32({-3, -1}), f32({0, -1})));
}

TEST(Compare, TypeShapeAndSizeMustAgree) {
  const Tensor two = f32({1, 2});
  EXPECT_FALSE(passes(make_tensor<double>(ElementType::kFloat64, {2}, {1, 2}), two));
  EXPECT_FALSE(passes(make_tensor<float>(ElementType::kFloat32, {1, 2}, {1, 2}), two));
  EXPECT_FALSE(passes(make_tensor<float>(ElementType::kFloat32, {3}, {1, 2, 3}), two));
  Tensor torn = two;
  torn.data = two.data.slice(0, 4);
  const Comparison result = compare(torn, two, Accuracy::kFast, false);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.first_failing, -1);
  EXPECT_FALSE(result.mismatch.empty());
}

TEST(Compare, EmptyTensorsAreEqual) { EXPECT_TRUE(passes(f32({}), f32({}))); }

TEST(Compare, DoubleComplexAndSixteenBitFloats) {
  const Tensor d = make_tensor<double>(ElementType::kFloat64, {2}, {1.0, 2.0});
  EXPECT_TRUE(passes(d, d));
  EXPECT_FALSE(passes(make_tensor<double>(ElementType::kFloat64, {2}, {1.0, 2.1}), d));
  EXPECT_TRUE(passes(make_tensor<double>(ElementType::kFloat64, {2}, {1.0, 2.0 + 1e-7}), d, Accuracy::kStrict));
  const Tensor c = make_tensor<float>(ElementType::kComplex64, {2}, {1, 2, 3, 4});
  EXPECT_TRUE(passes(c, c));
  EXPECT_EQ(compare(make_tensor<float>(ElementType::kComplex64, {2}, {1, 2, 3, -4}), c, Accuracy::kStandard, false)
                .first_failing,
            1);
  // 1, -2, the least denormal, infinity, NaN
  const Tensor half = make_tensor<std::uint16_t>(ElementType::kFloat16, {5}, {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00});
  EXPECT_TRUE(compare(half, half, Accuracy::kStandard, true).ok);
  for (const auto& [at, bits] : std::vector<std::pair<std::size_t, std::uint16_t>>{
           {0, 0x3d00}, {1, 0x4000}, {2, 0x3c00}, {3, 0x7bff}, {3, 0xfc00}, {4, 0x3c00}, {0, 0x7e00}}) {
    std::vector<std::uint16_t> wrong = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00};
    wrong[at] = bits;
    const Tensor tensor = make_tensor<std::uint16_t>(ElementType::kFloat16, {5}, wrong);
    EXPECT_EQ(compare(tensor, half, Accuracy::kStandard, true).first_failing, static_cast<std::int64_t>(at));
  }
  const Tensor bfloat = make_tensor<std::uint16_t>(ElementType::kBfloat16, {2}, {0x3f80, 0x7fc0});
  EXPECT_TRUE(compare(bfloat, bfloat, Accuracy::kFast, true).ok);
  EXPECT_FALSE(
      compare(make_tensor<std::uint16_t>(ElementType::kBfloat16, {2}, {0x3f90, 0x7fc0}), bfloat, Accuracy::kFast, true)
          .ok);
}

/// All 65536 halves against the decoder of src/ir.
TEST(Compare, DecodesEveryHalf) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  const Tensor all = make_tensor<std::uint16_t>(ElementType::kFloat16, {65536}, halves);
  const auto doubles = floats_of(all);
  ASSERT_TRUE(doubles);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (!std::isfinite((*doubles)[i])) continue;
    // Against zero the comparison reports the decoded value itself when it is larger than the floor.
    const Tensor one = make_tensor<std::uint16_t>(ElementType::kFloat16, {1}, {halves[i]});
    const Tensor zero = make_tensor<std::uint16_t>(ElementType::kFloat16, {1}, {0});
    const Comparison result = compare(one, zero, Accuracy::kStandard, true);
    ASSERT_EQ(result.max_abs, std::abs((*doubles)[i])) << i;
    ASSERT_EQ(result.ok, std::abs((*doubles)[i]) <= 1e-6) << i;
  }
}

TEST(Compare, IntegersAreExact) {
  const auto make = [](std::int64_t last) {
    return make_tensor<std::int64_t>(ElementType::kInt64, {3}, {1, -2, last});
  };
  EXPECT_TRUE(passes(make(3), make(3), Accuracy::kFast));
  const Comparison result = compare(make(4), make(3), Accuracy::kFast, true);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.first_failing, 2);
  EXPECT_EQ(result.allowed, 0);
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_FALSE(passes(make(kMin), make(std::numeric_limits<std::int64_t>::max())));
  EXPECT_FALSE(passes(make_tensor<std::uint8_t>(ElementType::kUint8, {1}, {255}),
                      make_tensor<std::uint8_t>(ElementType::kUint8, {1}, {0})));
}

TEST(Compare, OneStepIsAllowedOnlyWhenToldSo) {
  const auto make = [](std::int8_t value) { return make_tensor<std::int8_t>(ElementType::kInt8, {1}, {value}); };
  EXPECT_FALSE(compare(make(6), make(5), Accuracy::kFast, false).ok);
  EXPECT_TRUE(compare(make(6), make(5), Accuracy::kStrict, false, true).ok);
  EXPECT_TRUE(compare(make(4), make(5), Accuracy::kStrict, false, true).ok);
  EXPECT_FALSE(compare(make(7), make(5), Accuracy::kStrict, false, true).ok);
  EXPECT_FALSE(compare(make(-128), make(127), Accuracy::kStrict, false, true).ok);
}

TEST(Compare, PackedIntegersIgnoreOnlyTheUnusedBits) {
  const auto make = [](std::uint8_t last) {
    return Tensor{.type = ElementType::kInt4,
                  .extents = {3},
                  .data = make_tensor<std::uint8_t>(ElementType::kUint8, {2}, {0x21, last}).data,
                  .strings = {}};
  };
  EXPECT_TRUE(passes(make(0xF3), make(0x03)));
  EXPECT_FALSE(passes(make(0x04), make(0x03)));
  EXPECT_TRUE(compare(make(0x04), make(0x03), Accuracy::kStandard, false, true).ok);
}

TEST(Compare, BoolStringsAndSmallFloatsAreBitEqualOrWrong) {
  const auto bools = [](std::uint8_t value) { return make_tensor<std::uint8_t>(ElementType::kBool, {2}, {0, value}); };
  EXPECT_TRUE(passes(bools(1), bools(1)));
  EXPECT_FALSE(passes(bools(0), bools(1)));
  EXPECT_FALSE(passes(bools(2), bools(1)));
  const Tensor text{.type = ElementType::kString, .extents = {2}, .data = {}, .strings = {"a", "b"}};
  Tensor other = text;
  EXPECT_TRUE(passes(other, text));
  other.strings[1] = "c";
  EXPECT_EQ(compare(other, text, Accuracy::kFast, false).first_failing, 1);
  other.strings.pop_back();
  EXPECT_FALSE(passes(other, text));
  EXPECT_FALSE(passes(make_tensor<std::uint8_t>(ElementType::kFloat8E4M3Fn, {1}, {0x38}),
                      make_tensor<std::uint8_t>(ElementType::kFloat8E4M3Fn, {1}, {0x39})));
}

}  // namespace
}  // namespace collage
