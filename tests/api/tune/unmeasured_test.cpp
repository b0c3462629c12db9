#include "api/tune/unmeasured.h"

#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

/// A plan of one step by ONNX Runtime, in memory.
class UnmeasuredPlan : public ::testing::Test {
 protected:
  UnmeasuredPlan() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  [[nodiscard]] Result<RealisedPlan> plan(const std::string& engine = "onnxruntime") {
    return unmeasured_plan({.model = scratch.file("model.onnx"), .shapes = {}, .threads = 1, .engine = engine},
                           registry);
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(UnmeasuredPlan, IsOneStepOfTheEngine) {
  const auto made = plan();
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_EQ(made->plan.steps.size(), 1U);
  EXPECT_EQ(made->plan.steps[0].backend, "onnxruntime");
  EXPECT_EQ(nodes_of(made->plan.steps[0]).names.size(), 4U);
  EXPECT_EQ(made->plan.shipped, "onnxruntime");
  EXPECT_EQ(made->plan.model_path, scratch.file("model.onnx"));
  EXPECT_FALSE(made->plan.model_hash.empty());
}

TEST_F(UnmeasuredPlan, OfAnAbsentEngineOrModelIsAnError) {
  EXPECT_EQ(plan("absent").error().code, "backend/missing");
  std::filesystem::remove(scratch.file("model.onnx"));
  EXPECT_EQ(plan().error().exit, ExitCode::kIo);
}

TEST_F(UnmeasuredPlan, GivesTheModelsNumbers) {
  auto made = plan();
  ASSERT_TRUE(made) << to_string(made.error());
  auto session = test::session_of(*std::move(made), registry);
  ASSERT_TRUE(session) << to_string(session.error());
  const Tensor x = test::numbers({6, 16}, -3);
  ASSERT_TRUE(session->set_inputs(std::vector{x}));
  ASSERT_TRUE(session->run());
  const auto outputs = session->copy_outputs();
  ASSERT_TRUE(outputs);
  const std::vector<float> expected = test::small_graph_output(x);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(outputs->at(0).data.as<float>()[i], expected[i], 1e-5) << i;
}

}  // namespace
}  // namespace collage
