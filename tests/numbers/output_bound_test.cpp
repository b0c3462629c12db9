#include "numbers/output_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace collage {
namespace {

Tensor floats(std::vector<float> values) {
  const Extents extents = {static_cast<std::int64_t>(values.size())};
  return {.type = ElementType::kFloat32, .extents = extents, .data = Buffer::copy_of(std::as_bytes(std::span(values)))};
}

double share_of(const std::vector<float>& seen, const std::vector<float>& expected, std::string_view bound) {
  return check_output(floats(seen), floats(expected), *output_bound_of(bound)).share;
}

bool is_inside(const std::vector<float>& seen, const std::vector<float>& expected, std::string_view bound) {
  return check_output(floats(seen), floats(expected), *output_bound_of(bound)).comparison.ok;
}

TEST(OutputBound, ReadsClassesAndLists) {
  EXPECT_EQ(output_bound_of("strict"), (OutputBound{.accuracy = Accuracy::kStrict}));
  EXPECT_EQ(output_bound_of("fast"), (OutputBound{.accuracy = Accuracy::kFast}));
  EXPECT_EQ(output_bound_of("max=1e-2"), (OutputBound{.accuracy = Accuracy::kFast, .max = 1e-2}));
  EXPECT_EQ(output_bound_of("mean=0.001,cosine>=0.999,max=2"),
            (OutputBound{.accuracy = Accuracy::kFast, .max = 2, .mean = 0.001, .cosine = 0.999}));
}

TEST(OutputBound, TightBoundsKeepStepsToTheClassThatCanKeepToThem) {
  EXPECT_EQ(output_bound_of("max=1e-4")->accuracy, Accuracy::kStandard);
  EXPECT_EQ(output_bound_of("max=1e-5,mean=1")->accuracy, Accuracy::kStrict);
  EXPECT_EQ(output_bound_of("max=2e-4")->accuracy, Accuracy::kFast);
  EXPECT_EQ(output_bound_of("cosine>=0.999999")->accuracy, Accuracy::kFast);
}

TEST(OutputBound, WhatRoundingLeavesOfZerosIsInside) { EXPECT_TRUE(is_inside({1e-12F, 0}, {0, 0}, "max=1e-2")); }

TEST(OutputBound, RefusesWhatNoErrorCanKeepTo) {
  for (const char* text : {"", "loose", "max", "max=", "max=0", "max=-1", "max=nan", "max=inf", "max=1e-2,",
                           "max=1,max=2", "cosine=0.9", "cosine>=1", "cosine>=0", "fast,max=1", "max=1 ", "mean=1e-2x"})
    EXPECT_FALSE(output_bound_of(text)) << text;
}

TEST(OutputBound, TextReadsBack) {
  for (const char* text : {"strict", "standard", "fast", "max=0.01", "max=0.01,mean=0.003,cosine>=0.999"}) {
    EXPECT_EQ(to_string(*output_bound_of(text)), text);
    EXPECT_EQ(bound_in_plan(text), output_bound_of(text));
  }
  EXPECT_EQ(bound_in_plan("of a later version"), OutputBound());
}

TEST(OutputBound, ShareSaysHowMuchOfTheBoundTheWorstElementTakes) {
  // Allowed of class fast: 1e-2 of the largest (10) + 1e-2 of the element (5) + 1e-6.
  EXPECT_NEAR(share_of({5.03F, 10}, {5, 10}, "fast"), 0.03 / 0.150001, 1e-5);
  EXPECT_NEAR(share_of({5.03F, 10}, {5, 10}, "max=1e-2"), 0.3, 1e-4);
  EXPECT_NEAR(share_of({5.03F, 10}, {5, 10}, "mean=1e-2"), 0.03 / 0.15, 1e-4);
  EXPECT_NEAR(share_of({1, 1}, {1, 0}, "cosine>=0.9"), (1 - 1 / std::sqrt(2.0)) / 0.1, 1e-5);
  EXPECT_EQ(share_of({1, -2}, {1, -2}, "max=1e-9,mean=1e-9,cosine>=0.999999"), 0);
  EXPECT_EQ(share_of({0, 0}, {0, 0}, "max=1e-2,cosine>=0.9"), 0);
}

TEST(OutputBound, MeanSquareIsOfAllElementsAndOfTheLargestMagnitude) {
  const JudgedOutput judged = check_output(floats({4, 2, 0, 1}), floats({4, 1, 1, 1}), *output_bound_of("max=1"));
  EXPECT_DOUBLE_EQ(judged.mean_square, (1.0 + 1.0) / 4 / (4 * 4));
}

TEST(OutputBound, EveryBoundGivenMustHold) {
  EXPECT_TRUE(is_inside({5.03F, 10}, {5, 10}, "max=1e-2,mean=1e-2"));
  EXPECT_FALSE(is_inside({5.03F, 10}, {5, 10}, "max=1e-2,mean=1e-3"));
  EXPECT_FALSE(is_inside({5.3F, 10}, {5, 10}, "max=1e-2"));
  EXPECT_FALSE(is_inside({0.1F, 0}, {0, 0}, "max=1e-2"));
}

TEST(OutputBound, NoBoundAllowsNanOrInfinityInTheWrongPlace) {
  constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  for (const char* bound : {"fast", "max=1", "mean=1", "cosine>=0.1"}) {
    EXPECT_TRUE(std::isinf(share_of({kNoNumber, 1}, {1, 1}, bound))) << bound;
    EXPECT_TRUE(std::isinf(share_of({kEndless, 1}, {1, 1}, bound))) << bound;
    EXPECT_TRUE(std::isinf(share_of({-kEndless, 1}, {kEndless, 1}, bound))) << bound;
    EXPECT_FALSE(is_inside({kNoNumber, 1}, {1, 1}, bound)) << bound;
    EXPECT_TRUE(is_inside({kNoNumber, kEndless}, {kNoNumber, kEndless}, bound)) << bound;
  }
}

TEST(OutputBound, IntegersAreExactUnderEveryBound) {
  const auto integers = [](std::vector<std::int32_t> values) {
    return Tensor{.type = ElementType::kInt32,
                  .extents = {static_cast<std::int64_t>(values.size())},
                  .data = Buffer::copy_of(std::as_bytes(std::span(values)))};
  };
  const OutputBound bound = *output_bound_of("max=1");
  EXPECT_TRUE(check_output(integers({1, 2}), integers({1, 2}), bound).comparison.ok);
  EXPECT_TRUE(std::isinf(check_output(integers({1, 3}), integers({1, 2}), bound).share));
}

}  // namespace
}  // namespace collage
