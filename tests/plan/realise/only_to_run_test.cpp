#include "plan/only_to_run.h"

#include <gtest/gtest.h>

#include "plan/file/plan_file.h"
#include "tests/plan/plan_fixture.h"

namespace collage {
namespace {

/// Two kernels, each with a constant; the artifact of the second has its own bytes in place of it, as an engine has.
Sketch with_an_engine() {
  Sketch s;
  const ValueId x = s.input("x");
  const ValueId read = s.constant("read", {40}, 1.5F);
  const ValueId unread = s.constant("unread", {1000}, 2.5F);
  const ValueId a = s.step("first", {x, read});
  s.graph.outputs.push_back(s.step("second", {a, unread}));
  return s;
}

RealisedPlan realised() {
  RealisedPlan plan = with_an_engine().realise().value();
  for (PlanStep& step : plan.plan.steps)
    if (nodes_of(step).names == std::vector<std::string>{"second"}) artifact_of(step)->constants.clear();
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(std::string_view("a model"))));
  return plan;
}

PlanIndex value_named(const Plan& plan, const std::string& name) {
  for (PlanIndex v = 0; v < plan.values.size(); ++v)
    if (plan.values[v].name == name) return v;
  ADD_FAILURE() << "no value " << name;
  return 0;
}

TEST(OnlyToRun, KeepsWhatStepsReadAndNothingElse) {
  const RealisedPlan whole = realised();
  const RealisedPlan plan = only_to_run(whole);
  EXPECT_EQ(plan.plan.steps, whole.plan.steps);
  EXPECT_EQ(plan.plan.weights_bytes, 192U) << "40 floats, in lines of 64 bytes";
  EXPECT_EQ(plan.onnx.size(), 0U);
  const PlanIndex read = value_named(plan.plan, "read");
  EXPECT_EQ(plan.constants.at(read), whole.constants.at(read));
  EXPECT_EQ(plan.constants.at(value_named(plan.plan, "unread")).data.size(), 0U);
}

TEST(OnlyToRun, IsAPlanFileThatLoads) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(save_plan(only_to_run(realised()), folder.file("run.collage")));
  const auto loaded = load_plan(folder.file("run.collage"));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const PlanIndex read = value_named(loaded->plan, "read");
  EXPECT_EQ(loaded->constants.at(read), realised().constants.at(read));
}

TEST(OnlyToRun, KeepsAllThatAPlanWithEverythingReads) {
  const RealisedPlan whole = rich_sketch().realise().value();
  const RealisedPlan plan = only_to_run(whole);
  for (const PlanStep& step : plan.plan.steps) {
    std::vector<PlanIndex> read = step.inputs;
    if (const StepArtifact* artifact = artifact_of(step))
      read.insert(read.end(), artifact->constants.begin(), artifact->constants.end());
    for (const PlanIndex v : read)
      if (plan.plan.values[v].storage == Storage::kConstant) {
        EXPECT_EQ(plan.constants.at(v), whole.constants.at(v)) << plan.plan.values[v].name;
      }
  }
}

}  // namespace
}  // namespace collage
