#include "plan/explain/plan_dot.h"

#include <gmock/gmock.h>

#include "tests/plan/explain/explanation_fixture.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

TEST(PlanDot, HasABoxForEachStepAndAnArrowForEachValueThatPassesOn) {
  EXPECT_EQ(plan_as_dot(explained_plan()), R"(digraph "cover" {
  node [shape=box, style=filled, fillcolor=white, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=10];
  in0 [shape=ellipse, label="x"];
  s0 [fillcolor="#a6cee3", label="0: fake/direct\na\n0.1 us"];
  in0 -> s0 [label="f32[1,16,4,4]"];
  s1 [fillcolor="#b2df8a", label="1: host\na: channels_last to plain"];
  s0 -> s1 [label="f32[1,16,4,4] channels_last"];
  s2 [fillcolor="#a6cee3", style="filled,dashed", label="2: fake/view\nv\n0.1 us"];
  s1 -> s2 [label="f32[1,16,4,4]"];
  s3 [fillcolor="#a6cee3", label="3: fake/direct\nc\n0.1 us"];
  s2 -> s3 [label="f32[256]"];
  s4 [fillcolor="#a6cee3", label="4: fake/direct\nd\n0.1 us"];
  s3 -> s4 [label="f32[256]"];
  in0 -> s4 [label="f32[1,16,4,4]"];
  s5 [fillcolor="#a6cee3", label="5: fake/direct\ne\n0.1 us"];
  s4 -> s5 [label="f32[1,16,4,4] fake:blocked"];
  s6 [fillcolor="#a6cee3", label="6: fake/direct\ndynamic\n0.1 us"];
  s5 -> s6 [label="f32[1,16,4,4]"];
  s7 [fillcolor="#b2df8a", label="7: host/copy\ne: copied"];
  s5 -> s7 [label="f32[1,16,4,4]"];
  s8 [fillcolor="#b2df8a", label="8: host/copy\nx: copied"];
  in0 -> s8 [label="f32[1,16,4,4]"];
  s9 [fillcolor="#b2df8a", label="9: host/copy\nb: copied"];
  out0 [shape=ellipse, label="e"];
  s5 -> out0 [label="f32[1,16,4,4]"];
  out1 [shape=ellipse, label="e"];
  s7 -> out1 [label="f32[1,16,4,4]"];
  out2 [shape=ellipse, label="x"];
  s8 -> out2 [label="f32[1,16,4,4]"];
  out3 [shape=ellipse, label="b"];
  s9 -> out3 [label="f32[5]"];
  out4 [shape=ellipse, label="dynamic"];
  s6 -> out4 [label="f32[?,16,4,4]"];
}
)");
}

TEST(PlanDot, NamesCannotLeaveTheirQuotes) {
  Plan plan = explained_plan();
  plan.values[plan.inputs[0]].name = "x\"];\nevil [label=\"\\";
  const std::string dot = plan_as_dot(plan);
  EXPECT_THAT(dot, HasSubstr(R"(label="x\"]; evil [label=\"\\"];)"));
  plan.values[plan.inputs[0]].name = std::string(56, 'a') + "\u00e4" + std::string(10'000, 'b');
  EXPECT_THAT(plan_as_dot(plan), HasSubstr("label=\"" + std::string(56, 'a') + "...\""));
}

}  // namespace
}  // namespace collage
