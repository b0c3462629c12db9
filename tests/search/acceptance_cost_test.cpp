// What a candidate costs: the sum over its operators, each nine tenths of the one before; asked about only when the
// backend takes it. That equal structures are asked about once is shown with the pricer itself (tests/measure).
#include <gtest/gtest.h>

#include "placement_fixture.h"

namespace collage::testing_support {
namespace {

std::int64_t cost_of(const SearchCandidate& candidate) { return nanoseconds_of(candidate.cost).value_or(-1); }

TEST(Acceptance, ACandidateCostsTheSumOfItsOperatorsLessWhatFusingSaves) {
  Placement placement(graph_g1(), {willing("b", any_of({pattern_rule("two", "Abs -> Relu")}))});
  MockCosts costs;
  costs.per_operator("b", 3);
  placement.price(std::ref(costs));
  ASSERT_EQ(placement.candidates().size(), 1U);
  EXPECT_EQ(to_string(placement.candidates()[0].region->nodes), "{0,1}");
  EXPECT_EQ(cost_of(placement.candidates()[0]), kUnit * 57 / 10);
}

TEST(Acceptance, WhatABackendRefusesIsNeverPriced) {
  Proposer strict = willing("b", singles());
  strict.support = [](const Region&) -> std::expected<std::vector<Variant>, Refusal> {
    return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = "invalid"});
  };
  Placement placement(graph_g1(), {strict});
  MockCosts costs;
  costs.per_operator("b", 3);
  placement.price(std::ref(costs));
  EXPECT_EQ(costs.asked(), 0U);
  EXPECT_EQ(placement.pool().candidates.size(), 0U);
  ASSERT_EQ(placement.pool().refusals.size(), 3U);
  EXPECT_EQ(placement.pool().refusals[0].refusal.detail, "invalid");
}

TEST(Acceptance, EveryOperandOfAConcatIsAnInputOfItsOwn) {
  GraphBuilder net;
  const ValueId abs = net.add("Abs", {net.input("x")});
  const ValueId relu = net.add("Relu", {abs});
  Placement placement(net.take({net.add("Concat", {abs, relu}, {2, 4, 2, 2}, {{"axis", std::int64_t{0}}})}),
                      {willing("b", operators_named({"Concat"}))});
  MockCosts costs;
  costs.per_operator("b", 3);
  placement.price(std::ref(costs));
  ASSERT_EQ(placement.candidates().size(), 1U);
  const Region& region = *placement.candidates()[0].region;
  EXPECT_EQ(placement.subject().names(region.inputs), "v0,v1");
  const Graph part = extract(placement.subject().graph, region);
  for (const ValueId input : part.inputs) EXPECT_TRUE(part.value(input).type.is_static());
  EXPECT_EQ(part.inputs.size(), 2U);
  EXPECT_EQ(cost_of(placement.candidates()[0]), 3 * kUnit);
}

}  // namespace
}  // namespace collage::testing_support
