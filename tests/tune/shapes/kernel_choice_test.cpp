// Which kernel runs where, by times that a formula gives in place of a clock.
#include "tune/shapes/kernel_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace collage {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
const ShapeDomain kRows{.dimensions = {{.name = "M", .low = 1, .high = 1024}}};

/// The kernel that a choice gives a shape: the first case that holds it and whose kernel takes it.
template <class Takes>
std::size_t kernel_at(const KernelChoice& choice, const ShapePoint& point, Takes&& takes) {
  for (const KernelCase& one : choice.cases) {
    bool holds = true;
    for (std::size_t i = 0; i < point.size(); ++i) holds &= point[i] >= one.low[i] && point[i] <= one.high[i];
    if (holds && takes(choice.kernels[one.kernel], point)) return choice.kernels[one.kernel];
  }
  return choice.kernels.front();
}

constexpr auto kTakesAnything = [](std::size_t, const ShapePoint&) { return true; };

TEST(KernelChoice, FindsWhereTheFastestChanges) {
  // The first has less to do before it starts, the second less for each row: equal at 300.
  const auto time = [](const ShapePoint& point, const std::vector<bool>&) -> Result<KernelTimes> {
    const auto rows = static_cast<double>(point[0]);
    return KernelTimes{100 + 3 * rows, 700 + rows, 5000};
  };
  const auto choice = choose_kernels(kRows, {true, true, true}, time);
  ASSERT_TRUE(choice);
  EXPECT_THAT(choice->kernels, testing::UnorderedElementsAre(0U, 1U));
  for (const std::int64_t rows : {1, 2, 50, 100, 200, 250})
    EXPECT_EQ(kernel_at(*choice, {rows}, kTakesAnything), 0U) << rows;
  for (const std::int64_t rows : {380, 512, 700, 1024})
    EXPECT_EQ(kernel_at(*choice, {rows}, kTakesAnything), 1U) << rows;
}

TEST(KernelChoice, HasASecondKernelWhereTheFirstMayNotRun) {
  // The second is twice as fast where it runs: from 16 rows on.
  const auto takes = [](std::size_t kernel, const ShapePoint& point) { return kernel != 1 || point[0] >= 16; };
  const auto time = [&](const ShapePoint& point, const std::vector<bool>&) -> Result<KernelTimes> {
    return KernelTimes{20, takes(1, point) ? 10 : kNever};
  };
  const auto choice = choose_kernels(kRows, {true, false}, time);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->kernels, (std::vector<std::size_t>{0, 1})) << "the first takes every shape";
  for (std::int64_t rows = 1; rows <= 1024; ++rows)
    EXPECT_EQ(kernel_at(*choice, {rows}, takes), rows >= 16 ? 1U : 0U) << rows;
}

TEST(KernelChoice, KeepsOneKernelWhenOthersGainNothing) {
  const auto time = [](const ShapePoint& point, const std::vector<bool>&) -> Result<KernelTimes> {
    const auto rows = static_cast<double>(point[0]);
    return KernelTimes{1.001 * rows, rows, 1.003 * rows};
  };
  const auto choice = choose_kernels(kRows, {true, true, true}, time);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->kernels, std::vector<std::size_t>{1});
  EXPECT_EQ(choice->cases.size(), 1U) << "cells of one kernel are one case";
}

TEST(KernelChoice, DoesNotMeasureAgainWhatHasNoHope) {
  std::size_t hopeless = 0;
  const auto time = [&](const ShapePoint& point, const std::vector<bool>& asked) -> Result<KernelTimes> {
    const auto rows = static_cast<double>(point[0]);
    if (asked[2]) ++hopeless;
    return KernelTimes{100 + 3 * rows, 700 + rows, asked[2] ? 50000 : kNever};
  };
  const auto choice = choose_kernels(kRows, {true, true, true}, time, {.most_points = 30});
  ASSERT_TRUE(choice);
  EXPECT_EQ(hopeless, 20U) << "the powers of two and what is between them";
  EXPECT_GT(choice->points.size(), 20U);
}

TEST(KernelChoice, CountsPointsByTheirWeights) {
  const auto time = [](const ShapePoint& point, const std::vector<bool>&) -> Result<KernelTimes> {
    return KernelTimes{point[0] == 77 ? 30.0 : 10.0, 11.0};
  };
  KernelChoiceOptions options{.most_kernels = 1};
  EXPECT_EQ(choose_kernels(kRows, {true, true}, time, options)->kernels, std::vector<std::size_t>{0});
  options.asked = {{.point = {77}, .weight = 100, .is_asked = true}};
  EXPECT_EQ(choose_kernels(kRows, {true, true}, time, options)->kernels, std::vector<std::size_t>{1});
}

TEST(KernelChoice, CoversAGridOfTwoDimensionsWithoutGaps) {
  const ShapeDomain domain{.dimensions = {{"B", 1, 16}, {"S", 32, 256}}};
  // Large maps of small batches are the second's.
  const auto is_second = [](const ShapePoint& point) { return point[0] <= 4 && point[1] >= 100; };
  std::size_t asked = 0;
  const auto time = [&](const ShapePoint& point, const std::vector<bool>&) -> Result<KernelTimes> {
    ++asked;
    return KernelTimes{10.0, is_second(point) ? 5.0 : 20.0};
  };
  const auto choice = choose_kernels(domain, {true, true}, time, {.most_points = 60});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->points.size(), asked) << "each point once";
  EXPECT_LE(asked, 60U);
  std::size_t wrong = 0;
  for (std::int64_t batch = 1; batch <= 16; ++batch)
    for (std::int64_t size = 32; size <= 256; ++size)
      if (kernel_at(*choice, {batch, size}, kTakesAnything) != (is_second({batch, size}) ? 1U : 0U)) ++wrong;
  EXPECT_LT(wrong, 16U * 225U / 20U);
}

TEST(KernelChoice, PassesOnWhatMeasuringSays) {
  const auto time = [](const ShapePoint&, const std::vector<bool>&) -> Result<KernelTimes> {
    return fail(ExitCode::kBug, "test/no", "here", "nothing");
  };
  const auto choice = choose_kernels(kRows, {true}, time);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, "test/no");
}

}  // namespace
}  // namespace collage
