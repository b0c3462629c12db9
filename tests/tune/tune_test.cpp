#include "tune/tune.h"

#include <nlohmann/json.hpp>

#include "tests/tune/tune_fixture.h"
#include "tune/plan_model.h"

namespace collage {
namespace {

class Tune : public ::testing::Test {
 protected:
  Tune() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  void TearDown() override {
    EXPECT_EQ(scratch.temporaries(), std::vector<std::string>{});
    EXPECT_EQ(scratch.processes(), std::vector<pid_t>{});
  }

  [[nodiscard]] TuneOptions options() const {
    TuneOptions made;
    made.model = scratch.file("model.onnx");
    made.output = scratch.file("model.collage");
    made.backends = {"onnxruntime", "test"};
    made.store = scratch.file("costs");
    made.budget_s = 5;
    made.worker_command = test::worker_command();
    return made;
  }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(Tune, WritesAPlanThatGivesTheModelsNumbers) {
  const auto report = tune(options(), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  auto model = PlanModel::load(report->plan, registry);
  ASSERT_TRUE(model) << to_string(model.error());
  const Tensor x = test::numbers({6, 16}, 2);
  ASSERT_TRUE(model->set_inputs(std::vector{x}));
  ASSERT_TRUE(model->run());
  const auto outputs = model->outputs();
  ASSERT_TRUE(outputs);
  const std::vector<float> expected = test::small_graph_output(x);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(outputs->at(0).data.as<float>()[i], expected[i], 1e-5) << i;
}

TEST_F(Tune, ReportAddsUp) {
  const auto report = tune(options(), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(report->candidates, 0U);
  EXPECT_GT(report->measured, 0U);
  EXPECT_GT(report->measured_us, 0);
  EXPECT_GT(report->cover_us, 0);
  EXPECT_LE(report->model_bound_us, report->cover_us);
  EXPECT_LE(report->proven_bound_us, report->cover_us);
  EXPECT_FALSE(report->interrupted);
  std::size_t steps = 0;
  for (const auto& [name, count] : report->backends) steps += count;
  EXPECT_EQ(steps, report->steps);
  const auto json = nlohmann::json::parse(to_json(*report));
  EXPECT_EQ(json.at("schema"), "collage.tune/1");
  EXPECT_EQ(json.at("steps"), report->steps);
  EXPECT_EQ(json.at("shipped"), report->shipped);
}

TEST_F(Tune, SecondTuneMeasuresNothingAndGivesTheSamePlan) {
  const auto first = tune(options(), registry);
  ASSERT_TRUE(first) << to_string(first.error());
  TuneOptions again = options();
  again.output = scratch.file("again.collage");
  const auto second = tune(again, registry);
  ASSERT_TRUE(second) << to_string(second.error());
  EXPECT_EQ(second->measured, 0U);
  EXPECT_EQ(second->shipped, first->shipped);
  EXPECT_EQ(second->measured_us, first->measured_us);
  EXPECT_EQ(second->cover_us, first->cover_us);
}

TEST_F(Tune, OutputThatCannotBeWrittenIsSaidBeforeAnyWork) {
  TuneOptions unwritable = options();
  unwritable.output = scratch.file("absent/model.collage");
  bool worked = false;
  unwritable.progress = [&](const ProgressEvent&) { worked = true; };
  const auto report = tune(unwritable, registry);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().exit, ExitCode::kIo);
  EXPECT_FALSE(worked);
}

TEST_F(Tune, OnlyOneBackendTakesWhatItCan) {
  TuneOptions alone = options();
  alone.only = "test";
  const auto report = tune(alone, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->shipped, "cover");
  EXPECT_EQ(report->backends.count("onnxruntime"), 0U);
  alone.only = "absent";
  EXPECT_EQ(tune(alone, registry).error().code, "backend/missing");
}

TEST_F(Tune, WorkerThatCannotStartIsAnError) {
  TuneOptions broken = options();
  broken.worker_command = {"/nonexistent"};
  EXPECT_EQ(tune(broken, registry).error().code, "worker/cannot-start");
  broken.worker_command = {"/bin/false"};
  EXPECT_EQ(tune(broken, registry).error().code, "worker/died");
}

TEST(TuneReports, BytesThatAreNoTextDoNotBreakTheJson) {
  TuneReport report;
  report.notes = {"killed by SIGSEGV: \xff\xfe"};
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("notes").size(), 1U);
}

}  // namespace
}  // namespace collage
