#include "numbers/input_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/numbers/f32_tensor.h"

namespace collage {
namespace {

std::vector<double> drawn(const Tensor& recorded, Draw draw = Draw::kSeeded, bool narrow = false) {
  return *floats_of(draw_like(recorded, draw, 7, narrow));
}

std::vector<std::int64_t> drawn_integers(const Tensor& recorded, std::uint64_t seed) {
  return *integers_of(draw_like(recorded, Draw::kSeeded, seed, false));
}

std::vector<float> wave(std::size_t count, float offset) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = offset + std::sin(static_cast<float>(i));
  return values;
}

TEST(DrawnInputs, KeepTypeAndExtentsAndComeBackForTheSameSeed) {
  const Tensor recorded = make_tensor<float>(ElementType::kFloat32, {5, 20}, wave(100, 0));
  const Tensor a = draw_like(recorded, Draw::kSeeded, 7, false);
  EXPECT_EQ(a.extents, recorded.extents);
  EXPECT_EQ(a.type, recorded.type);
  EXPECT_NE(a, recorded);
  EXPECT_EQ(a, draw_like(recorded, Draw::kSeeded, 7, false));
  EXPECT_NE(a, draw_like(recorded, Draw::kSeeded, 8, false));
}

TEST(DrawnInputs, StayInTheRecordedDomain) {
  // Positive ones stay positive, as variances must, and no nearer to zero than recorded.
  for (const double value : drawn(f32(wave(500, 1.5F)))) {
    EXPECT_GE(value, 0.5);
    EXPECT_LE(value, 2.5);
  }
  // Of both signs, none is nearer to zero than the nearest recorded: divisors stay divisors.
  std::vector<float> apart = wave(500, 2);
  for (std::size_t i = 0; i < apart.size(); i += 2) apart[i] *= -1;
  int negative = 0;
  for (const double value : drawn(f32(apart))) {
    EXPECT_GE(std::abs(value), 0.99);
    EXPECT_LE(std::abs(value), 3.0);
    negative += value < 0 ? 1 : 0;
  }
  EXPECT_GT(negative, 100);
  EXPECT_LT(negative, 400);
}

TEST(DrawnInputs, FewKindsAndWholeNumbersStayOfTheirKinds) {
  std::vector<float> mask(300, 0.0F);
  for (std::size_t i = 0; i < mask.size(); i += 3) mask[i] = -2.5F;
  const auto kinds = drawn(f32(mask));
  EXPECT_EQ(std::set<double>(kinds.begin(), kinds.end()), (std::set<double>{-2.5, 0.0}));
  std::vector<float> whole(300);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<float>(i);
  for (const double value : drawn(f32(whole))) EXPECT_EQ(value, std::floor(value));
}

TEST(DrawnInputs, MasksAndWhatIsNotFiniteStayAsRecorded) {
  std::vector<float> mask(300, 0.0F);
  mask[5] = -10000.0F;
  EXPECT_EQ(draw_like(f32(mask), Draw::kLarge, 1, false), f32(mask));
  mask[5] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(draw_like(f32(mask), Draw::kSeeded, 1, false), f32(mask));
  const Tensor text{.type = ElementType::kString, .extents = {1}, .data = {}, .strings = {"a"}};
  EXPECT_EQ(draw_like(text, Draw::kSeeded, 1, false), text);
}

TEST(DrawnInputs, IntegersStayIndices) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < 400; ++i) indices.push_back(3 + i % 7);
  const Tensor recorded = make_tensor<std::int64_t>(ElementType::kInt64, {400}, indices);
  const auto seen = drawn_integers(recorded, 3);
  EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()), (std::set<std::int64_t>{3, 4, 5, 6, 7, 8, 9}));
  // A zero turns up only where one was recorded: it may be a divisor.
  const Tensor around = make_tensor<std::int32_t>(ElementType::kInt32, {4}, {-2, 2, -1, 1});
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const std::int64_t value : drawn_integers(around, seed)) EXPECT_NE(value, 0);
}

TEST(DrawnInputs, LargeOnesLeaveTheRecordedRangeOnBothSides) {
  const auto values = drawn(f32(wave(2000, 0)), Draw::kLarge);
  EXPECT_GT(*std::ranges::max_element(values), 60);
  EXPECT_LT(*std::ranges::min_element(values), -60);
  EXPECT_LE(*std::ranges::max_element(values), 128);
  EXPECT_TRUE(std::ranges::any_of(values, [](double v) { return v != 0 && std::abs(v) < 1e-3; }));
  for (const double value : drawn(f32(wave(2000, 0)), Draw::kLarge, true)) EXPECT_LE(std::abs(value), 8);
}

TEST(DrawnInputs, TiesHoldZerosOfBothSignsAndDenormals) {
  const Tensor tensor = draw_like(f32(wave(2000, 0)), Draw::kTies, 1, false);
  const auto values = tensor.data.as<float>();
  EXPECT_TRUE(std::ranges::any_of(values, [](float v) { return v == 0 && std::signbit(v); }));
  EXPECT_TRUE(std::ranges::any_of(values, [](float v) { return v == 0 && !std::signbit(v); }));
  EXPECT_TRUE(std::ranges::any_of(values, [](float v) { return v != 0 && std::abs(v) < 1e-38F; }));
  EXPECT_LE(std::set<float>(values.begin(), values.end()).size(), 20U);
}

TEST(DrawnInputs, TiesOfLongTensorsHoldFewDenormals) {
  const Tensor tensor = draw_like(f32(wave(100'000, 0)), Draw::kTies, 1, false);
  const auto values = tensor.data.as<float>();
  const auto denormal = std::ranges::count_if(values, [](float v) { return v != 0 && std::abs(v) < 1e-38F; });
  EXPECT_GT(denormal, 50);
  EXPECT_LT(denormal, 2000);
}

TEST(DrawnInputs, SixteenBitAndLongTensors) {
  std::vector<std::uint16_t> halves(100);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(0x3c00 + i);  // 1 and a little
  for (const double value : drawn(make_tensor<std::uint16_t>(ElementType::kFloat16, {100}, halves))) {
    EXPECT_GE(value, 1.0);
    EXPECT_LE(value, 1.1);
  }
  const auto values = drawn(f32(wave(100'000, 3)));
  EXPECT_EQ(values.size(), 100'000U);
  EXPECT_GE(*std::ranges::min_element(values), 2.0);
}

}  // namespace
}  // namespace collage
