#include "export/slim_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace collage {
namespace {

PlanValue value(std::string name, Storage storage, std::size_t offset, std::size_t bytes) {
  PlanValue made{
      .name = std::move(name), .type = {}, .place = {}, .storage = storage, .offset = offset, .bytes = bytes};
  made.type = ValueType::tensor(ElementType::kUint8, {static_cast<std::int64_t>(bytes)});
  return made;
}

Tensor constant(const std::string& text) {
  return {.type = ElementType::kUint8,
          .extents = {static_cast<std::int64_t>(text.size())},
          .data = Buffer::copy_of(std::as_bytes(std::span(text))),
          .strings = {}};
}

/// x -> y by one kernel with constant 2 of values {x, unread, read, y}.
RealisedPlan plan_with_unread_constant() {
  RealisedPlan realised;
  Plan& plan = realised.plan;
  plan.values = {value("x", Storage::kInput, 0, 4), value("unread", Storage::kConstant, 0, 6),
                 value("read", Storage::kConstant, 64, 3), value("y", Storage::kOutput, 0, 4)};
  plan.values[2].checksum = 7;
  plan.inputs = {0};
  plan.outputs = {3};
  plan.weights_bytes = 128;
  plan.model_path = "somewhere/model.onnx";
  plan.report = PlanReport();
  plan.steps = {{.backend = "b",
                 .variant = "v",
                 .work = PlanKernel{.location = kHome,
                                    .nodes = {.names = {"n", "m"}, .repeated = {}, .structure = "s"},
                                    .artifact = {.hash = "h", .entry = {}, .constants = {2}, .workspace = {}},
                                    .checks = {}},
                 .inputs = {0},
                 .outputs = {3},
                 .cost_ns = 5}};
  realised.constants = {{1, constant("unread")}, {2, constant("abc")}};
  return realised;
}

TEST(SlimPlan, LeavesOutConstantsThatNoStepReads) {
  const SlimPlan slim = slim_plan(plan_with_unread_constant());
  const Plan& plan = slim.plan.plan;
  ASSERT_EQ(plan.values.size(), 3U);
  EXPECT_EQ(plan.values[1].name, "read");
  EXPECT_EQ(plan.values[1].offset, 0U);
  EXPECT_THAT(artifact_of(plan.steps[0])->constants, ::testing::ElementsAre(1U));
  EXPECT_THAT(plan.steps[0].outputs, ::testing::ElementsAre(2U));
  EXPECT_THAT(plan.outputs, ::testing::ElementsAre(2U));
  ASSERT_EQ(slim.weights.size(), 64U);
  EXPECT_EQ(plan.weights_bytes, 64U);
  EXPECT_EQ(std::memcmp(slim.weights.data(), "abc", 3), 0);
  EXPECT_EQ(slim.plan.constants.at(1).data.text(), "abc");
}

TEST(SlimPlan, SaysNothingOfReasonsAndPlaces) {
  const Plan plan = slim_plan(plan_with_unread_constant()).plan.plan;
  EXPECT_FALSE(plan.report);
  EXPECT_EQ(plan.model_path, "exported model");
  EXPECT_EQ(plan.steps[0].cost_ns, 0);
  EXPECT_EQ(plan.steps[0].variant, "");
  EXPECT_THAT(nodes_of(plan.steps[0]).names, ::testing::ElementsAre("n")) << "for messages";
  EXPECT_FALSE(plan.values[1].checksum);
}

}  // namespace
}  // namespace collage
