#include "plan/explain/step_work.h"

#include <gtest/gtest.h>

#include "tests/plan/explain/explanation_fixture.h"

namespace collage {
namespace {

/// The step that computes the only node whose operations are counted.
std::size_t counted_step(const Plan& plan) {
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    for (const std::string& node : nodes_of(plan.steps[s]).names)
      if (node == "c") return s;
  ADD_FAILURE() << "no step computes c";
  return 0;
}

TEST(StepWork, CountsOperationsOfNodesAndBytesOfAllThatIsReadAndWritten) {
  const Plan plan = explained_plan();
  const std::vector<StepWork> works = work_of_steps(plan, rich_explanation());
  ASSERT_EQ(works.size(), plan.steps.size());
  const std::size_t step = counted_step(plan);
  for (std::size_t s = 0; s < works.size(); ++s) {
    EXPECT_EQ(works[s].flops, s == step ? 2000 : 0);
    double bytes = 0;
    if (!is_view(plan.steps[s])) {
      for (const PlanIndex v : plan.steps[s].inputs) bytes += static_cast<double>(plan.values[v].bytes);
      for (const PlanIndex v : plan.steps[s].outputs) bytes += static_cast<double>(plan.values[v].bytes);
      if (const StepArtifact* artifact = artifact_of(plan.steps[s]))
        for (const PlanIndex v : artifact->constants) bytes += static_cast<double>(plan.values[v].bytes);
    }
    EXPECT_EQ(works[s].bytes, bytes) << s;
  }
}

TEST(StepWork, TakesAtLeastWhatTheSlowerOfArithmeticAndBytesTakes) {
  const Plan plan = explained_plan();
  const std::size_t step = counted_step(plan);
  Explanation explanation = rich_explanation();
  EXPECT_DOUBLE_EQ(*work_of_steps(plan, explanation)[step].roofline_us, 2000.0 / 16 / 1000);
  explanation.peak->cache_bytes_per_ns = 0.01;
  const StepWork slow = work_of_steps(plan, explanation)[step];
  EXPECT_DOUBLE_EQ(*slow.roofline_us, slow.bytes / 0.01 / 1000);
  explanation.peak.reset();
  EXPECT_FALSE(work_of_steps(plan, explanation)[step].roofline_us);
}

}  // namespace
}  // namespace collage
