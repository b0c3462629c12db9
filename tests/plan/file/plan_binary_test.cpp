#include "plan/file/plan_binary.h"

#include "tests/plan/plan_fixture.h"

namespace collage {
namespace {

/// Plans that together have something in every member.
std::vector<Plan> plans() {
  std::vector<Plan> plans = {rich_sketch().realise().value().plan, realise_nested().value().plan, checked_plan()};
  plans[0].passes_off = {"fold", "merge"};
  plans[0].device_arena_bytes = {{"gpu:0", 4096}};
  plans[0].values[0].place.location = "gpu:0";
  plans[0].values[1].checksum = 7;
  for (Plan& plan : plans) plan.report.reset();
  return plans;
}

TEST(PlanBinary, ReadsBackWhatItWrites) {
  for (const Plan& plan : plans()) {
    const auto read = plan_from_binary(plan_to_binary(plan));
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_EQ(*read, plan);
  }
}

TEST(PlanBinary, LeavesTheReportOut) {
  Plan plan = plans()[0];
  plan.report = PlanReport();
  EXPECT_FALSE(plan_from_binary(plan_to_binary(plan))->report);
}

TEST(PlanBinary, IsRefusedWhenBytesAreMissingOrLeft) {
  const std::string bytes = plan_to_binary(plans()[1]);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(plan_from_binary(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_EQ(plan_from_binary(bytes + "x").error().code, "plan/damaged");
}

}  // namespace
}  // namespace collage
