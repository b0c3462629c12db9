#include "store/strategy_records.h"

#include <gtest/gtest.h>

#include "store/keys.h"

namespace collage {
namespace {

BackendInfo backend(const std::string& name, const std::string& build = "b1") {
  BackendInfo info;
  info.name = info.kind = name;
  info.version = "1";
  info.build = build;
  return info;
}

StrategyLine line(const std::string& implementation) {
  return {.family = "convolution", .implementation = implementation, .condition = "always", .operators = "Conv"};
}
const std::vector<StrategyLine> kLines = {line("direct"), line("winograd4"), line("rows")};

class StrategyRecords : public ::testing::Test {
 protected:
  void put(const std::string& region, const BackendInfo& info, const std::string& variant, const Cost& cost,
           const std::string& machine = "here") {
    store.put_cost(cost_key(region, {.name = variant, .input_formats = {}, .output_formats = {}}, info,
                            {.threads = 1, .machine = machine}),
                   cost);
  }
  void put(const std::string& region, const BackendInfo& info, const std::string& variant, std::int64_t ns,
           const std::string& machine = "here") {
    put(region, info, variant, Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1}, machine);
  }

  Store store = *Store::open("memory:");
};

TEST_F(StrategyRecords, CompareWithTheBestOtherOfTheSameRegion) {
  put("A", backend("native"), "direct.nhwc/tile_c=1", 200);
  put("A", backend("native"), "direct.nhwc/tile_c=2", 100);
  put("A", backend("native"), "winograd4.nhwc/rows=1", 50);
  put("A", backend("onednn"), "direct", 80);
  put("B", backend("native"), "direct.nhwc/tile_c=1", 100);
  put("B", backend("onednn"), "direct", 400);
  put("C", backend("native"), "direct.nhwc/tile_c=1", 100);
  put("C", backend("native"), "winograd4.nhwc/rows=1", Infeasible{{RefusalReason::kWrongResult, "made up"}});
  const auto records = strategy_records(store, backend("native"), kLines, "here");
  ASSERT_TRUE(records.contains("direct"));
  const StrategyRecord& direct = records.at("direct");
  EXPECT_EQ(direct.regions, 3U);
  EXPECT_EQ(direct.compared, 2U);
  EXPECT_EQ(direct.fastest, 1U);
  EXPECT_NEAR(direct.ratio, 1.414, 0.001);  // of 50/100 and 400/100
  EXPECT_EQ(direct.best_ratio, 4);
  EXPECT_EQ(direct.best_variant, "direct.nhwc/tile_c=1");
  EXPECT_EQ(records.at("winograd4").refused, 1U);
  EXPECT_NEAR(records.at("winograd4").ratio, 1.6, 0.001);
  EXPECT_FALSE(records.contains("rows"));
}

TEST_F(StrategyRecords, AreOfThisBuildAndMachine) {
  put("A", backend("native", "old"), "direct.nhwc/tile_c=1", 200);
  put("A", backend("native"), "direct.nhwc/tile_c=1", 200, "elsewhere");
  EXPECT_FALSE(strategy_records(store, backend("native"), kLines, "here").contains("direct"));
  put("A", backend("native"), "direct.nhwc/tile_c=1", 100);
  const auto records = strategy_records(store, backend("native"), kLines, "here");
  EXPECT_EQ(records.at("direct").regions, 1U);
}

}  // namespace
}  // namespace collage
