// A plan looked at again: where it was made, elsewhere, with other builds, with other numbers, without its backend.
#include "api/tune/recheck.h"

#include <memory>

#include "plan/file/plan_file.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

class Recheck : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<test::Scratch>();
    test::write_model(test::small_graph(), shared_->file("model.onnx"));
    TuneOptions options = test::small_tune(*shared_, {"test"});
    options.only = "test";
    options.budget_s = 2;
    Registry registry(test::module_folders());
    const auto tuned = tune(options, registry);
    EXPECT_TRUE(tuned) << to_string(tuned.error());
  }
  static void TearDownTestSuite() { shared_.reset(); }

  /// A copy of the plan with something changed.
  static std::string changed(const std::string& name, const std::function<void(RealisedPlan&)>& change) {
    auto plan = load_plan(shared_->file("model.collage"));
    EXPECT_TRUE(plan) << to_string(plan.error());
    if (!plan) return {};
    change(*plan);
    const auto saved = save_plan(*plan, shared_->file(name));
    EXPECT_TRUE(saved) << to_string(saved.error());
    return shared_->file(name);
  }

  RecheckReport recheck(const std::string& plan, bool always = false) {
    auto report = collage::recheck(
        {.plan = plan, .model = std::nullopt, .always = always, .worker_command = test::worker_command(), .stop = {}},
        registry_);
    EXPECT_TRUE(report) << to_string(report.error());
    if (!report) return {};
    EXPECT_EQ(nlohmann::json::parse(to_json(*report))["verdict"], name_of(report->fitness));
    return std::move(*report);
  }

  static std::unique_ptr<test::Scratch> shared_;
  Registry registry_{test::module_folders()};
};

std::unique_ptr<test::Scratch> Recheck::shared_;

TEST_F(Recheck, WhereNothingDiffersNothingIsMeasured) {
  const RecheckReport report = recheck(shared_->file("model.collage"));
  EXPECT_EQ(report.fitness, Fitness::kSame);
  EXPECT_FALSE(report.measured);
  EXPECT_TRUE(report.parts.empty());
}

TEST_F(Recheck, AskedForItMeasuresEverywhere) {
  const RecheckReport report = recheck(shared_->file("model.collage"), true);
  EXPECT_TRUE(report.measured);
  EXPECT_EQ(report.numbers, Numbers::kEqual) << to_text(report);
  EXPECT_NE(report.fitness, Fitness::kRefused) << to_text(report);
  ASSERT_GE(report.parts.size(), 2U) << to_text(report);
  EXPECT_FALSE(report.parts[0].step);
  for (const RecheckedPart& part : report.parts) {
    EXPECT_EQ(part.failure, "") << part.what;
    EXPECT_GT(part.now_ns, 0) << part.what;
    EXPECT_GT(part.then_ns, 0) << part.what;
  }
}

TEST_F(Recheck, AnotherMachineIsNamedAndMeasured) {
  const std::string plan = changed("elsewhere.collage", [](RealisedPlan& p) { p.plan.machine = "a lighthouse"; });
  const RecheckReport report = recheck(plan);
  EXPECT_TRUE(report.measured);
  EXPECT_EQ(report.numbers, Numbers::kEqual);
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_NE(report.differences[0].find("a lighthouse"), std::string::npos);
  const std::string hint = recheck_hint(plan, load_plan(plan)->plan, registry_);
  EXPECT_NE(hint.find("collage recheck '" + plan + "'"), std::string::npos) << hint;
  EXPECT_EQ(recheck_hint("p", load_plan(shared_->file("model.collage"))->plan, registry_), "");
}

TEST_F(Recheck, AnotherBuildIsNamedAndMeasured) {
  const RecheckReport report = recheck(changed("rebuilt.collage", [](RealisedPlan& p) {
    for (PlanBackend& backend : p.plan.backends)
      if (backend.name == "test") backend.build = "an older build";
  }));
  EXPECT_TRUE(report.measured);
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_NE(report.differences[0].find("an older build"), std::string::npos);
}

TEST_F(Recheck, PartThatWasMuchFasterElsewhereIsListed) {
  const RecheckReport report = recheck(changed("slow.collage", [](RealisedPlan& p) {
    p.plan.machine = "a lighthouse";
    for (PlanStep& step : p.plan.steps) step.cost_ns = step.cost_ns > 0 ? 1 : 0;
  }));
  EXPECT_GE(report.fitness, Fitness::kUsable) << to_text(report);
  EXPECT_NE(to_text(report).find("slower"), std::string::npos) << to_text(report);
}

TEST_F(Recheck, WrongNumbersAreRefused) {
  const RecheckReport report = recheck(changed("wrong.collage", [](RealisedPlan& p) {
    p.plan.machine = "a lighthouse";
    ASSERT_FALSE(p.constants.empty());
    Tensor& weights = p.constants.begin()->second;
    weights = test::numbers(weights.extents, 7);
  }));
  EXPECT_EQ(report.numbers, Numbers::kDifferent) << to_text(report);
  EXPECT_EQ(report.fitness, Fitness::kRefused);
  EXPECT_FALSE(report.cannot_run);
}

TEST_F(Recheck, MissingBackendIsRefusedWithoutMeasuring) {
  const RecheckReport report = recheck(changed("lacking.collage", [](RealisedPlan& p) {
    p.plan.backends.push_back({.name = "absent", .version = "1", .build = "1"});
  }));
  EXPECT_EQ(report.fitness, Fitness::kRefused);
  EXPECT_TRUE(report.cannot_run);
  EXPECT_FALSE(report.measured);
}

/// The plan's step runs on an instance with that fault.
std::string on_faulty(RealisedPlan& p, const std::string& fault) {
  const std::string name = "test:fault=" + fault;
  for (PlanStep& step : p.plan.steps)
    if (step.backend == "test") step.backend = name;
  for (PlanBackend& backend : p.plan.backends)
    if (backend.name == "test") backend.name = name;
  p.plan.machine = "a lighthouse";
  return name;
}

TEST_F(Recheck, LibraryThatCrashesHereIsRefused) {
  const RecheckReport report =
      recheck(changed("crashing.collage", [](RealisedPlan& p) { (void)on_faulty(p, "run-crash"); }));
  EXPECT_EQ(report.fitness, Fitness::kRefused);
  EXPECT_TRUE(report.cannot_run);
  EXPECT_NE(to_text(report).find("SIGSEGV"), std::string::npos) << to_text(report);
}

TEST_F(Recheck, ArtifactThatDoesNotLoadHereIsRefused) {
  const RecheckReport report =
      recheck(changed("unloadable.collage", [](RealisedPlan& p) { (void)on_faulty(p, "load-fail"); }));
  EXPECT_EQ(report.fitness, Fitness::kRefused);
  EXPECT_TRUE(report.cannot_run);
}

TEST_F(Recheck, WhatIsNoPlanIsAnError) {
  const auto report = collage::recheck(
      {.plan = shared_->file("model.onnx"), .worker_command = test::worker_command(), .stop = {}}, registry_);
  EXPECT_FALSE(report);
}

}  // namespace
}  // namespace collage
