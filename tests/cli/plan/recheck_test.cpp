// A plan on a machine that is not the one it was tuned on, as a user meets it.
#include "plan/file/plan_file.h"
#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;

class RecheckTest : public TestBackendsTest {
 protected:
  RecheckTest() { expect_good(tuned_once(given("model.onnx", chain(4)), plan_, {"--backends", "test"})); }

  void move_to_another_machine() const {
    auto plan = load_plan(plan_);
    ASSERT_TRUE(plan) << to_string(plan.error());
    plan->plan.machine = "a lighthouse";
    ASSERT_TRUE(save_plan(*plan, plan_));
  }

  std::string plan_ = file("model.collage");
};

TEST_F(RecheckTest, AtHomeIsTheSame) {
  const Ended ended = run({"recheck", plan_});
  expect_good(ended);
  EXPECT_THAT(ended.out, HasSubstr("model.collage: same"));
  expect_good(run({"run", plan_}));
}

TEST_F(RecheckTest, ElsewhereIsSaidOnceAndMeasured) {
  move_to_another_machine();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", plan_}, {"bench", plan_, "--seconds", "0.1"}}) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.exit_code, 0) << describe(ended);
    EXPECT_THAT(ended.err, HasSubstr("collage recheck '" + plan_ + "'"));
    EXPECT_THAT(ended.err, HasSubstr("is code from elsewhere"));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 2) << ended.err;
  }
  EXPECT_EQ(run({"run", plan_, "--quiet"}).err, "");

  const Ended ended = run({"recheck", plan_, "--json", "-"});
  const nlohmann::json report = parsed(ended.out);
  EXPECT_EQ(report["schema"], "collage.recheck/1");
  EXPECT_TRUE(report["measured"]);
  EXPECT_EQ(report["numbers"], "equal");
  EXPECT_THAT(report["differences"][0].get<std::string>(), HasSubstr("a lighthouse"));
  // What times say depends on the machine; the exit code says the same.
  EXPECT_THAT(report["verdict"].get<std::string>(), ::testing::AnyOf("same", "usable", "re-tune"));
  EXPECT_EQ(ended.exit_code, report["verdict"] == "re-tune" ? 1 : 0) << describe(ended);
  EXPECT_GE(report["parts"].size(), 1U);
}

TEST_F(RecheckTest, WhatIsNoPlanIsAnError) {
  const Ended ended = run({"recheck", given("noise.collage", "noise")});
  EXPECT_EQ(ended.exit_code, 3) << describe(ended);
  EXPECT_THAT(ended.err, HasSubstr("noise.collage"));
}

}  // namespace
}  // namespace collage::testing
