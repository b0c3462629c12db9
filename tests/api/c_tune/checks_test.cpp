// Plans looked at by a program: timed, verified, rechecked, explained; models run without a tune.
#include "tests/api/c_tune/tune_fixture.h"

namespace collage::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// With one plan for all tests.
class CTuneChecks : public CTune {
 protected:
  static void TearDownTestSuite() { shared_.reset(); }
  CTuneChecks() {
    const bool is_first = shared_ == nullptr;
    if (is_first) shared_ = std::make_unique<ScratchFolder>();
    tuned_model_ = shared_->file("model.onnx");
    tuned_plan_ = shared_->file("model.collage");
    if (is_first) {
      write(tuned_model_, small_model());
      options.model = tuned_model_.c_str();
      options.plan = tuned_plan_.c_str();
      EXPECT_NE(tuned(), nullptr);
    }
    asked.plan = tuned_plan_.c_str();
    asked.context = &context;
  }

  static std::unique_ptr<ScratchFolder> shared_;
  std::string tuned_model_;
  std::string tuned_plan_;
  collage_check_options asked{sizeof asked};
};

std::unique_ptr<ScratchFolder> CTuneChecks::shared_;

TEST_F(CTuneChecks, BenchTimesAPlanAgainstEngines) {
  const Texts against = {"onnxruntime"};
  collage_bench_options bench{sizeof bench};
  bench.plan = tuned_plan_.c_str();
  bench.against = against;
  bench.seconds = 0.2;
  bench.context = &context;
  const ReportHandle report = reported(tuner().bench, bench);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(tuner().report_ok(report.get()), 1);
  EXPECT_EQ(json_of(report)["schema"], "collage.bench/1");
  EXPECT_THAT(tuner().report_text(report.get()), HasSubstr("onnxruntime"));
  const Texts missing = {"absent"};
  bench.against = missing;
  collage_report* none = nullptr;
  EXPECT_EQ(code_of(tuner().bench(&bench, &none)), "backend/missing");
  bench.against = {};
  bench.seconds = -1;
  EXPECT_EQ(code_of(tuner().bench(&bench, &none)), "api/wrong-option");
  bench.plan = nullptr;
  EXPECT_EQ(code_of(tuner().bench(&bench, &none)), "api/null-argument");
}

TEST_F(CTuneChecks, BenchTakesAModel) {
  const Texts against = {"onnxruntime"};
  collage_bench_options bench{sizeof bench};
  bench.plan = model_.c_str();
  bench.against = against;
  bench.seconds = 0.2;
  bench.context = &context;
  EXPECT_EQ(tuner().report_ok(reported(tuner().bench, bench).get()), 1);
}

TEST_F(CTuneChecks, VerifyComparesOnSeveralInputs) {
  asked.seeds = 2;
  const ReportHandle report = reported(tuner().verify, asked);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(tuner().report_ok(report.get()), 1);
  EXPECT_EQ(json_of(report)["seeds"], 2);
  asked.seeds = -1;
  collage_report* none = nullptr;
  EXPECT_EQ(code_of(tuner().verify(&asked, &none)), "api/wrong-option");
}

TEST_F(CTuneChecks, RecheckSaysThatAPlanFitsWhereItWasMade) {
  asked.always = 1;
  const ReportHandle report = reported(tuner().recheck, asked);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(json_of(report)["schema"], "collage.recheck/1");
  EXPECT_EQ(json_of(report)["measured"], true);
}

TEST_F(CTuneChecks, ExplainSaysWhoRunsWhat) {
  const ReportHandle report = reported(tuner().explain, asked);
  ASSERT_NE(report, nullptr);
  EXPECT_THAT(tuner().report_text(report.get()), HasSubstr("onnxruntime"));
  asked.node = "no such node";
  collage_report* none = nullptr;
  EXPECT_EQ(code_of(tuner().explain(&asked, &none)), "plan/no-such-node");
  asked.why_not = "y=onednn";
  EXPECT_EQ(code_of(tuner().explain(&asked, &none)), "api/wrong-option");
}

TEST_F(CTuneChecks, OfAnotherReportThereIsNoSummary) {
  const ReportHandle report = reported(tuner().explain, asked);
  collage_tune_summary summary{};
  summary.size = sizeof summary;
  EXPECT_EQ(code_of(tuner().report_tune_summary(report.get(), &summary)), "api/wrong-report");
}

TEST_F(CTuneChecks, APlanThatIsNotThereIsAnError) {
  asked.plan = "/nonexistent.collage";
  collage_report* none = nullptr;
  EXPECT_EQ(code_of(tuner().verify(&asked, &none)), "io/cannot-read");
  EXPECT_EQ(code_of(tuner().recheck(&asked, &none)), "io/cannot-read");
  EXPECT_EQ(code_of(tuner().explain(&asked, &none)), "io/cannot-read");
  asked.plan = nullptr;
  EXPECT_EQ(code_of(tuner().explain(&asked, &none)), "api/null-argument");
}

class CTuneModels : public CTune {
 protected:
  CTuneModels() { asked.context = &context; }
  [[nodiscard]] PlanHandle made() const {
    collage_plan* plan = nullptr;
    EXPECT_TRUE(is_good(tuner().plan_of_model(&asked, &plan)));
    return PlanHandle(plan);
  }
  collage_model_options asked{sizeof asked};
};

TEST_F(CTuneModels, RunWithoutATune) {
  asked.model = model_.c_str();
  EXPECT_THAT(answer_of(made(), 1.5F), AllOf(SizeIs(35), Each(-2)));
}

TEST_F(CTuneModels, RunFromBytesThatMayGoAway) {
  std::string bytes = open_model();
  const Texts shapes = {"n=3"};
  asked.model_bytes = bytes.data();
  asked.model_byte_count = bytes.size();
  asked.shapes = shapes;
  const PlanHandle plan = made();
  bytes.assign(bytes.size(), 'x');
  EXPECT_THAT(answer_of(plan, 1.5F, 3), AllOf(SizeIs(21), Each(-2)));
  const char* metadata = nullptr;
  ASSERT_TRUE(is_good(c_api().plan_metadata(plan.get(), &metadata)));
  EXPECT_THAT(metadata, HasSubstr("model in memory"));
}

TEST_F(CTuneModels, ThatCannotRunAreErrors) {
  collage_plan* plan = nullptr;
  EXPECT_EQ(code_of(tuner().plan_of_model(&asked, &plan)), "api/wrong-option");
  asked.model = "/nonexistent.onnx";
  EXPECT_EQ(code_of(tuner().plan_of_model(&asked, &plan)), "import/not-found");
  write(model_, open_model());
  asked.model = model_.c_str();
  EXPECT_EQ(code_of(tuner().plan_of_model(&asked, &plan)), "import/unbound-dimension");
  EXPECT_EQ(plan, nullptr);
}

TEST_F(CTune, ListsTheBackends) {
  collage_report* made = nullptr;
  ASSERT_TRUE(is_good(tuner().backends(&context, &made)));
  const ReportHandle report(made);
  EXPECT_EQ(json_of(report)["schema"], "collage.backends/1");
  EXPECT_THAT(tuner().report_text(made), HasSubstr("onnxruntime"));
}

}  // namespace
}  // namespace collage::test
