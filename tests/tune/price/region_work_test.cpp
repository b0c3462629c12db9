#include "tune/price/region_work.h"

#include <gtest/gtest.h>

#include <string>

namespace collage {
namespace {

/// One operation or one byte takes a nanosecond.
constexpr PeakRates kSlow{.flops_per_ns = 1, .bytes_per_ns = 1, .memory_bytes_per_ns = 1};

/// Of all nodes as one region.
RegionWork work_of(const std::string& text) {
  const Graph graph = parse_graph(text).value();
  return WorkOfRegions(graph, kSlow, 1).of(whole_region(graph, uses_of(graph)));
}

TEST(RegionWork, IsThatOfTheHeavyOperatorsWhereTheOthersAreHiddenBehindThem) {
  const RegionWork work = work_of(
      "graph(%x: f32[1,64,8,8], %w: f32[64,64,1,1]) -> (%y) {"
      " %c: f32[1,64,8,8] = Conv(%x, %w)"
      " %y: f32[1,64,8,8] = Relu(%c) }");
  ASSERT_EQ(work.parts.size(), 1U);
  EXPECT_EQ(work.heavy_parts(), 1U);
  EXPECT_TRUE(work.parts[0]->is_heavy);
  EXPECT_EQ(work.parts[0]->kind, "Conv");
  EXPECT_GE(work.parts[0]->roofline_ns, 2. * 64 * 64 * 64);
  EXPECT_EQ(work.rest, "Relu,");
}

TEST(RegionWork, HasAPartForWhatIsMovedBesideASmallConvolution) {
  const RegionWork work = work_of(
      "graph(%s: f32[1,8,1,1], %w: f32[8,8,1,1], %x: f32[1,8,80,80]) -> (%y) {"
      " %c: f32[1,8,1,1] = Conv(%s, %w)"
      " %y: f32[1,8,80,80] = Mul(%x, %c) }");
  ASSERT_EQ(work.parts.size(), 2U);
  EXPECT_EQ(work.heavy_parts(), 1U);
  EXPECT_FALSE(work.parts[1]->is_heavy);
  EXPECT_EQ(work.parts[1]->kind, "Mul,");
  const double moved = 2. * 4 * 8 * 80 * 80;
  EXPECT_NEAR(work.parts[1]->roofline_ns, moved, 0.05 * moved);
  EXPECT_NE(work.parts[0]->operation, work.parts[1]->operation);
}

TEST(RegionWork, IsOnePartWithoutHeavyOperators) {
  const RegionWork work = work_of(
      "graph(%x: f32[1,8,8,8]) -> (%y) {"
      " %r: f32[1,8,8,8] = Relu(%x)"
      " %y: f32[1,8,8,8] = Neg(%r) }");
  ASSERT_EQ(work.parts.size(), 1U);
  EXPECT_EQ(work.heavy_parts(), 0U);
  EXPECT_FALSE(work.parts[0]->is_heavy);
  EXPECT_EQ(work.parts[0]->kind, "Relu,Neg,");
  EXPECT_EQ(work.rest, "");
}

}  // namespace
}  // namespace collage
