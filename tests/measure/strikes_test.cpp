#include "store/strikes.h"

#include "tests/measure/pricing_fixture.h"

namespace collage {
namespace {

const Refusal kCrash = {.reason = RefusalReason::kCrashed, .detail = "killed by SIGSEGV"};
const Refusal kHang = {.reason = RefusalReason::kTimeout, .detail = "no sign of life"};

BackendInfo named(const std::string& name, const std::string& build = "build 1") {
  BackendInfo info;
  info.name = name;
  info.build = build;
  return info;
}

class ThreeStrikes : public ::testing::Test {
 protected:
  Store store = std::move(*Store::open("memory:"));
  Strikes strikes{store};
};

TEST_F(ThreeStrikes, BlockABackendForTheseOperatorsAndThisBuild) {
  for (int i = 0; i < 2; ++i) strikes.add(named("a"), "Conv", i == 0 ? kCrash : kHang);
  EXPECT_FALSE(strikes.block_of(named("a"), "Conv"));
  strikes.add(named("a"), "Conv", kCrash);
  const auto block = strikes.block_of(named("a"), "Conv");
  ASSERT_TRUE(block);
  EXPECT_EQ(block->reason, RefusalReason::kCrashed);
  EXPECT_NE(block->detail.find("3 times on Conv"), std::string::npos) << block->detail;
  EXPECT_FALSE(strikes.block_of(named("a"), "Add"));
  EXPECT_FALSE(strikes.block_of(named("a:opt=1"), "Conv"));
  EXPECT_FALSE(strikes.block_of(named("b"), "Conv"));
  EXPECT_FALSE(strikes.block_of(named("a", "build 2"), "Conv"));
}

TEST_F(ThreeStrikes, CountAcrossTunes) {
  for (int i = 0; i < 3; ++i) Strikes(store).add(named("a"), "Conv", kCrash);
  EXPECT_TRUE(Strikes(store).block_of(named("a"), "Conv"));
  ASSERT_EQ(strikes_in(store).size(), 1U);
  EXPECT_EQ(
      strikes_in(store)[0],
      (Strike{
          .backend = "a", .build = "build 1", .operators = "Conv", .count = 3, .last = "crashed: killed by SIGSEGV"}));
}

TEST_F(ThreeStrikes, AreForCrashesAndHangsOnly) {
  for (const RefusalReason reason : {RefusalReason::kResources, RefusalReason::kWrongResult, RefusalReason::kCompile})
    for (int i = 0; i < 3; ++i) strikes.add(named("a"), "Conv", {.reason = reason, .detail = ""});
  EXPECT_EQ(strikes_in(store), std::vector<Strike>{});
}

TEST_F(ThreeStrikes, FiveHangsOnAnythingAreEnoughForOneTune) {
  for (int i = 0; i < kMostHangs; ++i) strikes.add(named("a"), "Op" + std::to_string(i), kHang);
  EXPECT_EQ(strikes.block_of(named("a"), "Other")->reason, RefusalReason::kTimeout);
  EXPECT_FALSE(Strikes(store).block_of(named("a"), "Other"));
}

TEST_F(ThreeStrikes, AreLiftedByInstanceByKindAndByOperators) {
  const auto strike_all = [&] {
    for (const char* name : {"a", "a:opt=1", "ab"})
      for (const char* operators : {"Conv", "Add"})
        for (int i = 0; i < 3; ++i) strikes.add(named(name), operators, kCrash);
  };
  strike_all();
  EXPECT_EQ(lift_strikes(store, "a", "Conv"), 2U);
  EXPECT_FALSE(strikes.block_of(named("a"), "Conv"));
  EXPECT_TRUE(strikes.block_of(named("a"), "Add"));
  EXPECT_TRUE(strikes.block_of(named("ab"), "Conv"));
  strike_all();
  EXPECT_EQ(lift_strikes(store, "a:opt=1", ""), 2U);
  EXPECT_EQ(lift_strikes(store, "a", ""), 2U);
  EXPECT_EQ(strikes_in(store).size(), 2U);
  EXPECT_EQ(lift_strikes(store, "nobody", ""), 0U);
}

TEST_F(ThreeStrikes, LiftingForgetsTheDeadCandidatesToo) {
  const std::string key = "region=1 variant=default in= out= backend=a version=1 build=1";
  store.put_cost(key, Infeasible{kCrash});
  store.put_cost(key + " other", Infeasible{{.reason = RefusalReason::kWrongResult, .detail = ""}});
  store.put_cost("region=1 backend=ab version=1", Infeasible{kCrash});
  EXPECT_EQ(lift_strikes(store, "a", ""), 1U);
  EXPECT_EQ(store.costs_like("").size(), 2U);
}

TEST_F(ThreeStrikes, NameTheDifferentOperatorsOfARegion) {
  const Graph graph = test::chain_graph();
  EXPECT_EQ(operators_of(graph, test::region_of(graph, {0, 1})), "Relu");
  EXPECT_EQ(operators_of(graph, test::region_of(graph, {1, 2, 3})), "Add+Relu");
}

class BlockedPricing : public ::testing::Test, protected test::PricingLab {};

TEST_F(BlockedPricing, LeavesOutWhatDiedThreeTimesAndStoresNothingOfIt) {
  const std::string bad = "test:fault=run-crash";
  for (int i = 0; i < 3; ++i) Strikes(store).add((*registry.get(bad))->info(), "Relu", kCrash);
  Pricer pricer(options(), registry, store);
  const auto priced = price(pricer, {request({0}, {bad, "test"}), request({2}, {bad})});
  EXPECT_EQ(reason_of(priced[0][0]), RefusalReason::kCrashed);
  EXPECT_NE(std::get<Infeasible>(priced[0][0].cost).refusal.detail.find("not tried"), std::string::npos);
  EXPECT_TRUE(is_measured(priced[0][1]));
  EXPECT_EQ(std::get<Infeasible>(priced[1][0].cost).refusal.detail.find("not tried"), std::string::npos);
  EXPECT_EQ(store.costs_like("fault=run-crash").size(), 1U);
  EXPECT_EQ(strikes_in(store).size(), 2U);
}

}  // namespace
}  // namespace collage
