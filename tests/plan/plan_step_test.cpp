#include "plan/plan_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/plan.h"

namespace collage {
namespace {

/// One step of each kind.
std::vector<PlanStep> every_kind() {
  const StepNodes nodes{.names = {"n"}};
  const StepArtifact artifact{.hash = "h", .workspace = {.offset = 64, .bytes = 128}};
  return {{.work = PlanKernel{.location = "there", .nodes = nodes, .artifact = artifact, .checks = {{}}}},
          {.work = PlanConversion{.location = "there", .artifact = artifact}},
          {.work = PlanTransfer{}},
          {.work = PlanView{.location = "there", .nodes = nodes}},
          {.work = PlanControl{.nodes = nodes, .bodies = {{}, {}}, .workspace = {.bytes = 256}}}};
}

template <class Query>
auto answers(Query query) {
  std::vector<decltype(query(std::declval<PlanStep&>()))> answers;
  for (PlanStep& step : every_kind()) answers.push_back(query(step));
  return answers;
}

TEST(PlanStep, SaysWhatRunsInIt) {
  using testing::ElementsAre;
  EXPECT_THAT(answers([](const PlanStep& step) { return kind_name(step); }),
              ElementsAre("kernel", "convert", "transfer", "view", "control"));
  EXPECT_THAT(answers([](const PlanStep& step) { return needs_backend(step); }),
              ElementsAre(true, true, true, false, false));
  EXPECT_THAT(answers([](const PlanStep& step) { return artifact_of(step) != nullptr; }),
              ElementsAre(true, true, false, false, false));
  EXPECT_THAT(answers([](const PlanStep& step) { return nodes_of(step).names.size(); }), ElementsAre(1, 0, 0, 1, 1));
  EXPECT_THAT(answers([](const PlanStep& step) { return checks_of(step).size(); }), ElementsAre(1, 0, 0, 0, 0));
  EXPECT_THAT(answers([](const PlanStep& step) { return bodies_of(step).size(); }), ElementsAre(0, 0, 0, 0, 2));
}

TEST(PlanStep, HasItsWorkspaceWhereItRuns) {
  using testing::ElementsAre;
  EXPECT_THAT(answers([](const PlanStep& step) { return location_of(step); }),
              ElementsAre("there", "there", kHome, "there", kHome));
  EXPECT_THAT(answers([](const PlanStep& step) { return workspace_of(step).bytes; }), ElementsAre(128, 128, 0, 0, 256));
  EXPECT_THAT(answers([](PlanStep& step) { return workspace_in(step) != nullptr; }),
              ElementsAre(true, true, false, false, true));
  EXPECT_THAT(answers([](PlanStep& step) { return nodes_in(step) != nullptr; }),
              ElementsAre(true, false, false, true, true));
}

}  // namespace
}  // namespace collage
