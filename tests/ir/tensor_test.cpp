#include "ir/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace collage {
namespace {

using Integers = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

TEST(Tensor, WidensEveryIntegerType) {
  EXPECT_EQ(integers_of(make_tensor<std::int8_t>(ElementType::kInt8, {2}, {-1, 127})), (Integers{-1, 127}));
  EXPECT_EQ(integers_of(make_tensor<std::uint8_t>(ElementType::kUint8, {2}, {0, 255})), (Integers{0, 255}));
  EXPECT_EQ(integers_of(make_tensor<std::uint8_t>(ElementType::kBool, {2}, {0, 1})), (Integers{0, 1}));
  EXPECT_EQ(integers_of(make_tensor<std::int16_t>(ElementType::kInt16, {1}, {-300})), (Integers{-300}));
  EXPECT_EQ(integers_of(make_tensor<std::uint16_t>(ElementType::kUint16, {1}, {65535})), (Integers{65535}));
  EXPECT_EQ(integers_of(make_tensor<std::int32_t>(ElementType::kInt32, {1}, {-70000})), (Integers{-70000}));
  EXPECT_EQ(integers_of(make_tensor<std::uint32_t>(ElementType::kUint32, {1}, {4294967295U})), (Integers{4294967295}));
  EXPECT_EQ(integers_of(make_tensor<std::int64_t>(ElementType::kInt64, {}, {-5})), (Integers{-5}));
  EXPECT_EQ(integers_of(make_tensor<std::uint64_t>(ElementType::kUint64, {}, {5})), (Integers{5}));
}

TEST(Tensor, UnpacksNarrowIntegersFromTheLowEnd) {
  EXPECT_EQ(integers_of(make_tensor<std::uint8_t>(ElementType::kInt4, {3}, {0x7f, 0x08})), (Integers{-1, 7, -8}));
  EXPECT_EQ(integers_of(make_tensor<std::uint8_t>(ElementType::kUint4, {3}, {0x7f, 0x08})), (Integers{15, 7, 8}));
  EXPECT_EQ(integers_of(make_tensor<std::uint8_t>(ElementType::kInt2, {4}, {0b11'10'01'00})), (Integers{0, 1, -2, -1}));
  EXPECT_EQ(integers_of(make_tensor<std::uint8_t>(ElementType::kUint2, {4}, {0b11'10'01'00})), (Integers{0, 1, 2, 3}));
}

TEST(Tensor, WidensEveryFloatType) {
  EXPECT_EQ(floats_of(make_tensor<float>(ElementType::kFloat32, {2}, {0.5F, -2.0F})), (Doubles{0.5, -2.0}));
  EXPECT_EQ(floats_of(make_tensor<double>(ElementType::kFloat64, {1}, {0.1})), (Doubles{0.1}));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(floats_of(make_tensor<std::uint16_t>(ElementType::kFloat16, {6},
                                                 {0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400, 0xfc00})),
            (Doubles{1.0, -2.0, 65504.0, std::ldexp(1.0, -24), std::ldexp(1.0, -14), -infinity}));
  EXPECT_EQ(floats_of(make_tensor<std::uint16_t>(ElementType::kBfloat16, {2}, {0x3f80, 0xc040})), (Doubles{1.0, -3.0}));
  EXPECT_TRUE(std::isnan((*floats_of(make_tensor<std::uint16_t>(ElementType::kFloat16, {1}, {0x7e01})))[0]));
}

TEST(Tensor, GivesNothingForOtherTypes) {
  EXPECT_EQ(integers_of(make_tensor<float>(ElementType::kFloat32, {1}, {1.0F})), std::nullopt);
  EXPECT_EQ(floats_of(make_tensor<std::int64_t>(ElementType::kInt64, {1}, {1})), std::nullopt);
  EXPECT_EQ(integers_of(Tensor{.type = ElementType::kString, .extents = {1}, .data = {}, .strings = {"a"}}),
            std::nullopt);
  EXPECT_EQ(integers_of(make_tensor<std::uint64_t>(ElementType::kUint64, {1}, {std::uint64_t{1} << 63})), std::nullopt);
}

TEST(Tensor, GivesNothingWhenBytesAreMissing) {
  EXPECT_EQ(integers_of(make_tensor<std::int64_t>(ElementType::kInt64, {3}, {1, 2})), std::nullopt);
  EXPECT_EQ(floats_of(make_tensor<float>(ElementType::kFloat32, {2}, {1.0F})), std::nullopt);
}

TEST(Tensor, ReadsEmptyTensors) {
  EXPECT_EQ(integers_of(make_tensor<std::int64_t>(ElementType::kInt64, {0}, {})), Integers{});
}

TEST(Tensor, ContentHashTellsApartTypeExtentsAndContents) {
  const Tensor tensor = make_tensor<std::int32_t>(ElementType::kInt32, {2}, {1, 2});
  EXPECT_EQ(content_hash(tensor), content_hash(make_tensor<std::int32_t>(ElementType::kInt32, {2}, {1, 2})));
  EXPECT_EQ(content_hash(tensor).size(), 16U);
  EXPECT_NE(content_hash(tensor), content_hash(make_tensor<std::int32_t>(ElementType::kInt32, {2}, {1, 3})));
  EXPECT_NE(content_hash(tensor), content_hash(make_tensor<std::int32_t>(ElementType::kInt32, {1, 2}, {1, 2})));
  EXPECT_NE(content_hash(tensor), content_hash(make_tensor<std::uint32_t>(ElementType::kUint32, {2}, {1, 2})));
  const Tensor one{.type = ElementType::kString, .extents = {2}, .data = {}, .strings = {"a", "bc"}};
  const Tensor other{.type = ElementType::kString, .extents = {2}, .data = {}, .strings = {"ab", "c"}};
  EXPECT_NE(content_hash(one), content_hash(other));
}

}  // namespace
}  // namespace collage
