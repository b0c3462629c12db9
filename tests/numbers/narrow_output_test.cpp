#include "numbers/narrow_output.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/narrow_float.h"

namespace collage {
namespace {

constexpr std::size_t kCount = 64;

Tensor floats(const std::function<float(std::size_t)>& element) {
  std::vector<float> values;
  for (std::size_t i = 0; i < kCount; ++i) values.push_back(element(i));
  return {.type = ElementType::kFloat32,
          .extents = {static_cast<std::int64_t>(kCount)},
          .data = Buffer::copy_of(std::as_bytes(std::span(values)))};
}

float odd(std::size_t i) { return 0.1F * static_cast<float>(i) + 0.0123F; }

TEST(NarrowOutput, OutputsRoundedToSixteenBitsAreFound) {
  const Tensor expected = floats(odd);
  EXPECT_TRUE(has_narrow_elements(floats([](std::size_t i) { return from_bfloat(to_bfloat(odd(i))); }), expected));
  EXPECT_TRUE(has_narrow_elements(floats([](std::size_t i) { return from_half(to_half(odd(i))); }), expected));
  EXPECT_FALSE(has_narrow_elements(expected, expected));
}

TEST(NarrowOutput, OneElementWithMoreBitsIsEnough) {
  const Tensor expected = floats(odd);
  EXPECT_FALSE(has_narrow_elements(
      floats([](std::size_t i) { return i == 40 ? odd(i) : from_bfloat(to_bfloat(odd(i))); }), expected));
}

TEST(NarrowOutput, NumbersThatHaveFewBitsAnywayAreNoEvidence) {
  const Tensor whole = floats([](std::size_t i) { return static_cast<float>(i); });
  EXPECT_FALSE(has_narrow_elements(whole, whole));
  const Tensor mostly_zero = floats([](std::size_t i) { return i < 8 ? odd(i) : 0.0F; });
  EXPECT_FALSE(has_narrow_elements(floats([](std::size_t) { return 0.0F; }), mostly_zero));
}

TEST(NarrowOutput, SaturatedAndTinyElementsAreNoEvidence) {
  // What a Tanh or a Softmax gives elsewhere: exactly 1 or 0 where the reference is an ulp or a denormal away.
  const auto near_one = floats([](std::size_t i) { return 1 - 6e-8F * static_cast<float>(1 + i % 3); });
  EXPECT_FALSE(has_narrow_elements(floats([](std::size_t) { return 1.0F; }), near_one));
  const auto tiny = floats([](std::size_t i) { return 1e-9F * odd(i); });
  EXPECT_FALSE(has_narrow_elements(floats([](std::size_t) { return 0.0F; }), tiny));
}

}  // namespace
}  // namespace collage
