// Tunes as a program starts them: of files and of bytes, for one shape and for ranges, watched and cancelled.
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/api/c_tune/tune_fixture.h"

namespace collage::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(CTune, WritesAPlanThatTheOtherLibraryRuns) {
  const ReportHandle report = tuned();
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(tuner().report_ok(report.get()), 1);
  EXPECT_EQ(json_of(report)["schema"], "collage.tune/1");
  EXPECT_THAT(tuner().report_text(report.get()), HasSubstr("model.collage"));
  EXPECT_THAT(answer_of(loaded(plan_), 1.5F), AllOf(SizeIs(35), Each(-2)));
}

TEST_F(CTune, SummarisesWhatItsJsonSays) {
  const ReportHandle report = tuned();
  ASSERT_NE(report, nullptr);
  const collage_tune_summary summary = summary_of(report);
  const nlohmann::json json = json_of(report);
  EXPECT_EQ(summary.candidates, json["candidates"]);
  EXPECT_EQ(summary.measured_us, json["measured_us"]);
  EXPECT_EQ(summary.shipped, json["shipped"]);
  EXPECT_GT(summary.measured_us, 0);
  EXPECT_GT(summary.best_rival_us, 0);
  EXPECT_THAT(summary.best_rival, HasSubstr("onnxruntime"));
  EXPECT_GE(summary.steps, 1U);
  EXPECT_EQ(summary.interrupted, 0);
}

TEST_F(CTune, TakesAModelAsBytes) {
  const std::string bytes = small_model();
  options.model = nullptr;
  options.model_bytes = bytes.data();
  options.model_byte_count = bytes.size();
  const ReportHandle report = tuned();
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(json_of(report)["model"], "model in memory");
  EXPECT_THAT(answer_of(loaded(plan_), 1.5F), Each(-2));
  // There is no file of the model: the plan's own copy is compared with.
  collage_check_options asked{sizeof asked};
  asked.plan = plan_.c_str();
  asked.context = &context;
  const ReportHandle verified = reported(tuner().verify, asked);
  EXPECT_EQ(tuner().report_ok(verified.get()), 1);
  EXPECT_THAT(tuner().report_text(verified.get()), HasSubstr("the model was given as bytes; plan.onnx"));
}

TEST_F(CTune, NamesAModelInMemoryInErrors) {
  const std::string bytes = "no model";
  options.model = nullptr;
  options.model_bytes = bytes.data();
  options.model_byte_count = bytes.size();
  collage_report* report = nullptr;
  collage_status* const status = tuner().tune(&options, &report);
  EXPECT_THAT(c_api().status_message(status), HasSubstr("model in memory"));
  EXPECT_EQ(c_api().status_kind(status), COLLAGE_BAD_INPUT);
  c_api().status_free(status);
}

TEST_F(CTune, MakesAPlanOfManyShapesFromRanges) {
  write(model_, open_model());
  const Texts shapes = {"n=1..8"};
  const Texts at = {"n=4"};
  options.shapes = shapes;
  options.at = at;
  options.points = 2;
  const ReportHandle report = tuned();
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(json_of(report)["schema"], "collage.tune-shapes/1");
  EXPECT_GT(summary_of(report).candidates, 0U);
  const PlanHandle plan = loaded(plan_);
  EXPECT_THAT(answer_of(plan, 0.5F, 4), AllOf(SizeIs(28), Each(-1)));
  EXPECT_THAT(answer_of(plan, 0.5F, 7), AllOf(SizeIs(49), Each(-1)));
}

struct Watched {
  std::vector<std::string> phases = {};
  std::string rival = {};
  double speedup = 0;
  std::thread::id thread = {};
  const collage_cancel* cancel = nullptr;
  const char* cancel_at = "";
};

void watch(const collage_progress* progress, void* data) {
  Watched& watched = *static_cast<Watched*>(data);
  EXPECT_EQ(progress->size, sizeof *progress);
  EXPECT_EQ(watched.thread, std::this_thread::get_id());
  watched.phases.emplace_back(progress->phase);
  watched.rival = progress->rival;
  watched.speedup = progress->speedup;
  if (watched.cancel != nullptr && watched.phases.back() == watched.cancel_at)
    std::thread([&] { tuner().cancel_now(watched.cancel); }).join();
}

TEST_F(CTune, TellsItsProgressOnTheCallersThread) {
  Watched watched{.thread = std::this_thread::get_id()};
  context.progress = watch;
  context.progress_data = &watched;
  EXPECT_NE(tuned(), nullptr);
  EXPECT_THAT(watched.phases, AllOf(::testing::Contains("import"), ::testing::Contains("price")));
  EXPECT_THAT(watched.rival, ::testing::StartsWith("onnxruntime"));
  EXPECT_GT(watched.speedup, 0);
}

TEST_F(CTune, CancelledFromAnotherThreadKeepsTheBestPlan) {
  collage_cancel* made = nullptr;
  ASSERT_TRUE(is_good(tuner().cancel_create(&made)));
  const CancelHandle cancel(made);
  Watched watched{.thread = std::this_thread::get_id(), .cancel = made, .cancel_at = "price"};
  context.progress = watch;
  context.progress_data = &watched;
  context.cancel = made;
  options.budget_s = 300;
  const ReportHandle report = tuned();
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(summary_of(report).interrupted, 1);
  EXPECT_THAT(answer_of(loaded(plan_), 1.5F), Each(-2));
}

TEST_F(CTune, CancelledFromTheStartGivesThePlanThatNeedsNoMeasuring) {
  collage_cancel* made = nullptr;
  ASSERT_TRUE(is_good(tuner().cancel_create(&made)));
  tuner().cancel_now(made);
  context.cancel = made;
  const ReportHandle report = tuned();
  tuner().cancel_free(made);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(summary_of(report).interrupted, 1);
  EXPECT_THAT(summary_of(report).shipped, StartsWith("onnxruntime"));
  EXPECT_THAT(answer_of(loaded(plan_), 1.5F), Each(-2));
}

TEST_F(CTune, SaysThatTheNativeCompilerLacksItsLinker) {
  if (!std::filesystem::exists(build_path("/lib/collage/libcollage_backend_native.so")))
    GTEST_SKIP() << "the native backend is not built";
  const Texts backends = {"native", "onnxruntime"};
  options.backends = backends;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const ReportHandle report = tuned();
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_NE(report, nullptr);
  EXPECT_THAT(tuner().report_text(report.get()), HasSubstr("native takes nothing: no program ld in PATH"));
}

void ignore(int) {}

/// How the process handles a signal.
void (*handler_of(int signal))(int) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST_F(CTune, LeavesTheCallersSignalsAlone) {
  ::signal(SIGCHLD, ignore);
  ::signal(SIGPIPE, ignore);
  ::signal(SIGINT, ignore);
  EXPECT_NE(tuned(), nullptr);
  for (const int signal : {SIGCHLD, SIGPIPE, SIGINT}) {
    EXPECT_EQ(handler_of(signal), ignore);
    ::signal(signal, SIG_DFL);
  }
}

TEST_F(CTune, WorksForACallerThatIgnoresItsChildren) {
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_NE(tuned(), nullptr);
  ::signal(SIGCHLD, SIG_DFL);
}

}  // namespace
}  // namespace collage::test
