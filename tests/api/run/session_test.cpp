#include "api/run/session.h"

#include "api/run/loaded_plan.h"
#include "plan/plan_cases.h"
#include "tests/runtime/runtime_fixture.h"

namespace collage {
namespace {

Tensor numbers(const Extents& extents, float scale) {
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i % 17);
  return make_tensor(ElementType::kFloat32, extents, values);
}

/// y = x + 1 by the host backend, f32[6,16].
class SessionTest : public testing::Test {
 protected:
  static Graph increment() {
    Graph graph;
    graph.opsets = {{"", 26}};
    const ValueId x = add_input(graph, "x", {6, 16});
    const ValueId one = add_constant(graph, "one", make_tensor<float>(ElementType::kFloat32, {1}, {1}));
    graph.outputs = {add_op(graph, "Add", {x, one}, {6, 16})};
    return graph;
  }

  LoadedPlan plan_ = LoadedPlan::load(single_case(all_plain(increment())), host_only).value();
  Session session_ = plan_.make_session().value();
};

TEST_F(SessionTest, GivesTheModelsNumbersForEveryInput) {
  for (const float scale : {1.0F, -3.0F}) {
    const Tensor x = numbers({6, 16}, scale);
    ASSERT_TRUE(session_.set_inputs(std::vector{x}));
    ASSERT_TRUE(session_.run());
    const auto outputs = session_.copy_outputs();
    ASSERT_TRUE(outputs);
    ASSERT_EQ(outputs->size(), 1U);
    EXPECT_EQ(outputs->at(0).extents, (Extents{6, 16}));
    for (std::size_t i = 0; i < 96; ++i) ASSERT_EQ(outputs->at(0).data.as<float>()[i], x.data.as<float>()[i] + 1) << i;
  }
}

TEST_F(SessionTest, CopiesOfOutputsAreLeftAloneByLaterRuns) {
  ASSERT_TRUE(session_.set_inputs(std::vector{numbers({6, 16}, 1)}));
  ASSERT_TRUE(session_.run());
  const auto first = session_.copy_outputs();
  const Buffer kept = Buffer::copy_of(first->at(0).data.bytes());
  ASSERT_TRUE(session_.set_inputs(std::vector{numbers({6, 16}, 5)}));
  ASSERT_TRUE(session_.run());
  EXPECT_EQ(first->at(0).data, kept);
  EXPECT_NE(session_.copy_outputs()->at(0).data, kept);
}

TEST_F(SessionTest, InputsThatDoNotFitAreRefused) {
  EXPECT_EQ(session_.set_inputs({}).error().code, "input/wrong-count");
  EXPECT_EQ(session_.set_inputs(std::vector{numbers({16, 6}, 1)}).error().code, "input/wrong-shape");
  Tensor whole = numbers({6, 16}, 1);
  whole.type = ElementType::kInt32;
  EXPECT_EQ(session_.set_inputs(std::vector{whole}).error().code, "input/wrong-shape");
  EXPECT_EQ(session_.set_shapes(std::vector<Extents>{{6, 15}}).error().code, "input/wrong-shape");
  EXPECT_TRUE(session_.set_shapes(std::vector<Extents>{{6, 16}})) << "the plan's own shape";
}

TEST_F(SessionTest, ReadsAndWritesTheCallersMemory) {
  const Tensor x = numbers({6, 16}, 2);
  alignas(64) std::array<float, 96> in;
  alignas(64) std::array<float, 96> out;
  std::memcpy(in.data(), x.data.data(), sizeof in);
  ASSERT_TRUE(session_.bind_input(0, in.data()));
  ASSERT_TRUE(session_.bind_output(0, out.data()));
  EXPECT_TRUE(session_.input(0).empty());
  EXPECT_EQ(session_.set_inputs(std::vector{x}).error().code, "input/bound");
  ASSERT_TRUE(session_.run());
  for (std::size_t i = 0; i < 96; ++i) ASSERT_EQ(out[i], in[i] + 1) << i;
  EXPECT_EQ(session_.bind_input(1, in.data()).error().code, "runtime/no-port");
}

TEST_F(SessionTest, ProfileHasATimeForEveryStep) {
  const auto times = session_.profile(3);
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), session_.plan().steps.size());
  EXPECT_GT(times->front(), 0);
}

TEST_F(SessionTest, OutlivesThePlanItWasMadeFrom) {
  Session session = [] {
    const LoadedPlan plan = LoadedPlan::load(single_case(all_plain(increment())), host_only).value();
    return plan.make_session().value();
  }();
  EXPECT_TRUE(session.run());
}

}  // namespace
}  // namespace collage
