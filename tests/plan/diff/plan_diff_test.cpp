#include "plan/diff/plan_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_numbers.h"
#include "tests/support/schema_check.h"

namespace collage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A plan of steps given as (who, nodes, nanoseconds); without nodes a conversion.
struct SketchedStep {
  std::string backend;
  std::string variant;
  std::vector<std::string> nodes;
  std::int64_t ns = 0;
  std::vector<std::string> repeated = {};
};

Plan plan_of(const std::vector<SketchedStep>& sketch, double measured_us, const std::string& machine = "this one") {
  Plan plan;
  plan.model_path = "model.onnx";
  plan.machine = machine;
  plan.report = PlanReport{.search = {.measured_us = measured_us}, .rivals = {}, .plans = {}};
  for (const SketchedStep& one : sketch) {
    PlanStep step{
        .backend = one.backend, .variant = one.variant, .work = PlanConversion{}, .inputs = {}, .outputs = {}};
    if (!one.nodes.empty())
      step.work = PlanKernel{.nodes = {.names = one.nodes, .repeated = one.repeated, .structure = {}}};
    step.cost_ns = one.ns;
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

Plan first() {
  return plan_of({{"onednn", "jit", {"conv", "relu"}, 5000},
                  {"host", "", {}, 200},
                  {"native", "flat", {"add"}, 1000},
                  {"native", "rows", {"softmax"}, 3000}},
                 10.5);
}

Plan second() {
  return plan_of({{"onednn", "jit", {"conv", "relu"}, 5100},
                  {"onednn", "eltwise", {"add"}, 1500},
                  {"native", "rows", {"softmax"}, 1000},
                  {"host", "", {}, 300},
                  {"host", "", {}, 100}},
                 9);
}

Result<PlanDiff> diff(const Plan& a, const Plan& b) {
  return diff_plans({.name = "a.collage", .plan = &a}, {.name = "b.collage", .plan = &b});
}

TEST(PlanDiff, NamesThePartsThatRunOtherwiseAndAddsUpTheRest) {
  const Plan a = first();
  const Plan b = second();
  EXPECT_EQ(to_text(diff(a, b).value()), R"(A  a.collage: 10.5 us, 4 steps, 1 thread, standard, on this one
B  b.collage: 9.0 us, 5 steps, 1 thread, standard, on this one
1 of 3 parts of the graph run otherwise; times of steps alone
      A us       B us      B - A  nodes, below: A, then B
       1.0        1.5       +0.5  add
                                  native/flat
                                  onednn/eltwise
       0.2        0.4       +0.2  conversions: 1 in A, 2 in B
       8.0        6.1       -1.9  the parts that run alike
)");
}

/// a: {conv relu} {add softmax}; b: {conv} {relu add} {softmax}. Only together are they the same nodes in both.
TEST(PlanDiff, JoinsStepsUntilBothPlansComputeTheSameNodes) {
  const Plan a =
      plan_of({{"x", "", {"conv", "relu"}, 10}, {"x", "", {"add", "softmax"}, 20}, {"x", "", {"end"}, 1}}, 1);
  const Plan b = plan_of(
      {{"y", "", {"conv"}, 1}, {"y", "", {"relu", "add"}, 2}, {"y", "", {"softmax"}, 4}, {"x", "", {"end"}, 1}}, 1);
  const PlanDiff found = diff(a, b).value();
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_THAT(found.parts[0].nodes, ElementsAre("conv", "relu", "add", "softmax"));
  EXPECT_THAT(found.parts[0].a.steps, ElementsAre(0, 1));
  EXPECT_THAT(found.parts[0].b.steps, ElementsAre(0, 1, 2));
  EXPECT_TRUE(found.parts[0].differs);
  EXPECT_THAT(found.parts[1].nodes, ElementsAre("end"));
  EXPECT_FALSE(found.parts[1].differs);
}

TEST(PlanDiff, OtherCutsOfTheSameBackendDiffer) {
  const Plan a = plan_of({{"x", "v", {"conv", "relu"}, 10}, {"x", "v", {"add"}, 20}}, 1);
  const Plan b = plan_of({{"x", "v", {"conv"}, 10}, {"x", "v", {"relu", "add"}, 20}}, 1);
  const PlanDiff found = diff(a, b).value();
  ASSERT_EQ(found.parts.size(), 1U);
  EXPECT_TRUE(found.parts[0].differs);
}

TEST(PlanDiff, OfANodeThatAStepRecomputesTheOtherStepCounts) {
  const Plan a = plan_of({{"x", "", {"scale"}, 1}, {"x", "", {"scale", "conv"}, 9, {"scale"}}}, 1);
  const Plan b = plan_of({{"x", "", {"scale"}, 1}, {"y", "", {"conv"}, 8}}, 1);
  const PlanDiff found = diff(a, b).value();
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_THAT(found.parts[0].nodes, ElementsAre("conv"));
}

TEST(PlanDiff, SaysWhichNodesOnePlanLacksAndThatMachinesDiffer) {
  const Plan a = plan_of({{"x", "", {"conv"}, 1}, {"x", "", {"dropout"}, 1}}, 1);
  const Plan b = plan_of({{"x", "", {"conv"}, 1}, {"x", "", {"cast"}, 1}}, 0, "another");
  const std::string text = to_text(diff(a, b).value());
  EXPECT_THAT(text, HasSubstr("1 nodes are in A alone: dropout\n1 nodes are in B alone: cast\n"));
  EXPECT_THAT(text, HasSubstr("two machines: their times compare badly"));
  EXPECT_THAT(text, HasSubstr("b.collage: not timed"));
}

TEST(PlanDiff, OfAnEngineThatRunsTheWholeModelNoTimeIsKnown) {
  const Plan a = first();
  const Plan b = plan_of({{"engine", "default", {"conv", "relu", "add", "softmax"}, 0}}, 7);
  const PlanDiff found = diff(a, b).value();
  const std::string text = to_text(found);
  EXPECT_THAT(text, HasSubstr("       9.0          -          -  conv relu and 2 more\n"));
  EXPECT_THAT(text, HasSubstr("onednn/jit, native/flat and 1 others\n"));
  const auto made = nlohmann::json::parse(to_json(found));
  EXPECT_TRUE(made["parts"][0]["more_us"].is_null());
  EXPECT_EQ(test::schema_problem(made), "");
}

TEST(PlanDiff, OfAPlanAndItselfNothingDiffers) {
  const Plan a = first();
  const std::string text = to_text(diff(a, a).value());
  EXPECT_THAT(text, HasSubstr("0 of 3 parts"));
  EXPECT_THAT(text, Not(HasSubstr("below")));
}

TEST(PlanDiff, PlansOfDifferentModelsAreRefused) {
  const Plan a = first();
  const Plan b = plan_of({{"x", "", {"elsewhere"}, 1}}, 1);
  const auto found = diff(a, b);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "plan/nothing-in-common");
}

TEST(PlanDiff, JsonFollowsThePublishedSchema) {
  const Plan a = first();
  const Plan b = second();
  auto made = nlohmann::json::parse(to_json(diff(a, b).value()));
  const auto schema = test::published_schema("diff.schema.json");
  const test::SchemaCheck check(schema);
  EXPECT_EQ(check.problem(made), "");
  EXPECT_EQ(made["parts"][0]["more_us"], 0.5);
  EXPECT_EQ(made["parts"][0]["b"]["who"], nlohmann::json::array({"onednn/eltwise"}));
  made["parts"][0]["more"] = 1;
  EXPECT_NE(check.problem(made), "");
}

}  // namespace
}  // namespace collage
