#include "tune/plan_model.h"

#include "tests/tune/tune_fixture.h"
#include "tune/unmeasured.h"

namespace collage {
namespace {

/// A plan of one step by ONNX Runtime, in memory.
class PlanModels : public ::testing::Test {
 protected:
  PlanModels() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  [[nodiscard]] Result<RealisedPlan> plan(const std::string& engine = "onnxruntime") {
    return unmeasured_plan({.model = scratch.file("model.onnx"), .shapes = {}, .threads = 1, .engine = engine},
                           registry);
  }
  [[nodiscard]] Result<PlanModel> model() {
    COLLAGE_TRY(RealisedPlan made, plan());
    return PlanModel::load(std::move(made), registry);
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(PlanModels, UnmeasuredPlanIsOneStepOfTheEngine) {
  const auto made = plan();
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(made->plan.steps.size(), 1U);
  EXPECT_EQ(made->plan.steps[0].backend, "onnxruntime");
  EXPECT_EQ(made->plan.steps[0].nodes.size(), 4U);
  EXPECT_EQ(made->plan.shipped, "onnxruntime");
  EXPECT_EQ(made->plan.model_path, scratch.file("model.onnx"));
  EXPECT_FALSE(made->plan.model_hash.empty());
}

TEST_F(PlanModels, UnmeasuredPlanOfAnAbsentEngineOrModelIsAnError) {
  EXPECT_EQ(plan("absent").error().code, "backend/missing");
  std::filesystem::remove(scratch.file("model.onnx"));
  EXPECT_EQ(plan().error().exit, ExitCode::kIo);
}

TEST_F(PlanModels, GivesTheModelsNumbersForEveryInput) {
  auto loaded = model();
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  for (const float scale : {1.0F, -3.0F}) {
    const Tensor x = test::numbers({6, 16}, scale);
    ASSERT_TRUE(loaded->set_inputs(std::vector{x}));
    ASSERT_TRUE(loaded->run());
    const auto outputs = loaded->outputs();
    ASSERT_TRUE(outputs);
    ASSERT_EQ(outputs->size(), 1U);
    EXPECT_EQ(outputs->at(0).extents, (Extents{6, 16}));
    const std::vector<float> expected = test::small_graph_output(x);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(outputs->at(0).data.as<float>()[i], expected[i], 1e-5) << i;
  }
}

TEST_F(PlanModels, OutputsAreCopiesThatLaterRunsLeaveAlone) {
  auto loaded = model();
  ASSERT_TRUE(loaded);
  ASSERT_TRUE(loaded->set_inputs(std::vector{test::numbers({6, 16}, 1)}));
  ASSERT_TRUE(loaded->run());
  const auto first = loaded->outputs();
  const Tensor kept = {.type = first->at(0).type,
                       .extents = first->at(0).extents,
                       .data = Buffer::copy_of(first->at(0).data.bytes()),
                       .strings = {}};
  ASSERT_TRUE(loaded->set_inputs(std::vector{test::numbers({6, 16}, 5)}));
  ASSERT_TRUE(loaded->run());
  EXPECT_EQ(first->at(0), kept);
  EXPECT_NE(loaded->outputs()->at(0), kept);
}

TEST_F(PlanModels, InputsThatDoNotFitAreRefused) {
  auto loaded = model();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->set_inputs({}).error().code, "input/wrong-count");
  EXPECT_EQ(loaded->set_inputs(std::vector{test::numbers({16, 6}, 1)}).error().code, "input/wrong-shape");
  Tensor whole = test::numbers({6, 16}, 1);
  whole.type = ElementType::kInt32;
  EXPECT_EQ(loaded->set_inputs(std::vector{whole}).error().code, "input/wrong-shape");
}

TEST_F(PlanModels, ProfileHasATimeForEveryStep) {
  auto loaded = model();
  ASSERT_TRUE(loaded);
  const auto times = loaded->profile(3);
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), loaded->session().plan().steps.size());
  EXPECT_GT(times->front(), 0);
}

}  // namespace
}  // namespace collage
