// A backend that misbehaves changes nothing but its own candidates: the plan of a whole tune is the one without it.
#include <signal.h>

#include <atomic>
#include <thread>

#include "api/tune/verify.h"
#include "tests/tune/end_to_end/misbehaviour_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;
using test::Costs;

/// What every stored candidate of the honest backends costs: far more than the test backend takes for anything.
constexpr std::int64_t kFixedNs = 1'000'000;

using Misbehaviour = test::MisbehaviourOver<kFixedNs>;

/// The control: when it behaves, its candidates are measured and are the best. So whatever the other tests do not find
/// in the plan was left out because of the fault.
TEST_F(Misbehaviour, RightBackendIsMeasuredAndChosen) {
  const auto report = tune_with(options_with({"test"}));
  ASSERT_TRUE(report) << to_string(report.error());
  const Costs costs = costs_of("test");
  EXPECT_EQ(report->measured, costs.size());
  EXPECT_GE(costs.size(), 4U);
  for (const auto& [key, cost] : costs) EXPECT_TRUE(std::holds_alternative<Measured>(cost)) << key;
  EXPECT_LT(report->cover_us, kFixedNs / 1000);
  Registry registry(test::module_folders());
  const auto verified =
      verify_plan({.plan = report->plan, .model = std::nullopt, .seeds = 2, .input_ranges = {}}, registry);
  ASSERT_TRUE(verified) << to_string(verified.error());
  EXPECT_TRUE(verified->ok) << to_text(*verified);
}

class MisbehaviourIn : public Misbehaviour,
                       public ::testing::WithParamInterface<std::pair<const char*, RefusalReason>> {};

TEST_P(MisbehaviourIn, CostsItsOwnCandidatesOnly) {
  const std::string instance = std::string("test:fault=") + GetParam().first;
  TuneOptions with = options_with({instance});
  if (GetParam().second == RefusalReason::kTimeout) with.run_limit = 200ms;
  const auto report = tune_with(with);
  ASSERT_TRUE(report) << to_string(report.error());
  expect_refused(instance, GetParam().second);
  EXPECT_EQ(report->measured, 0U);
  expect_the_same_plan();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, MisbehaviourIn,
    ::testing::Values(
        std::pair("compile-throw", RefusalReason::kCompile), std::pair("compile-abort", RefusalReason::kCrashed),
        std::pair("load-throw", RefusalReason::kCompile), std::pair("load-crash", RefusalReason::kCrashed),
        std::pair("run-throw", RefusalReason::kCompile), std::pair("run-crash", RefusalReason::kCrashed),
        std::pair("run-hang", RefusalReason::kTimeout), std::pair("run-wrong", RefusalReason::kWrongResult),
        std::pair("run-late-wrong", RefusalReason::kWrongResult), std::pair("run-overrun", RefusalReason::kWrongResult),
        std::pair("run-bf16", RefusalReason::kWrongResult), std::pair("run-f16", RefusalReason::kWrongResult),
        std::pair("unload-crash", RefusalReason::kCrashed)),
    [](const auto& tested) {
      std::string name = tested.param.first;
      std::erase(name, '-');
      return name;
    });

TEST_F(Misbehaviour, SeveralFaultsInOneTuneCostTheirOwnCandidatesOnly) {
  const auto report =
      tune_with(options_with({"test:fault=run-close", "test:fault=compile-exit", "test:fault=run-fail"}));
  ASSERT_TRUE(report) << to_string(report.error());
  expect_refused("test:fault=run-close", RefusalReason::kCrashed);
  expect_refused("test:fault=compile-exit", RefusalReason::kCrashed);
  expect_refused("test:fault=run-fail", RefusalReason::kCompile);
  expect_the_same_plan();
}

TEST_F(Misbehaviour, ThrowingWhenAskedForSupportMakesNoCandidates) {
  const auto report = tune_with(options_with({"test:fault=support-throw"}));
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(costs_of("test:fault=support-throw"), Costs{});
  expect_the_same_plan();
}

TEST_F(Misbehaviour, BackendThatIsNotThereIsANote) {
  const auto report = tune_with(options_with({"absent"}));
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_FALSE(report->notes.empty());
  EXPECT_NE(report->notes.front().find("absent takes no part"), std::string::npos) << report->notes.front();
  expect_the_same_plan();
}

/// Kills whoever makes a file named by its process id in a folder, until stopped.
class Killer {
 public:
  explicit Killer(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] int killed() const { return killed_; }

 private:
  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(2ms);
      for (const auto& announced : std::filesystem::directory_iterator(folder_)) {
        std::filesystem::remove(announced.path());
        ::kill(std::stoi(announced.path().filename().string()), SIGKILL);
        ++killed_;
      }
    }
  }

  std::string folder_;
  std::atomic<int> killed_ = 0;
  std::jthread thread_{[this](const std::stop_token& stop) { watch(stop); }};
};

TEST_F(Misbehaviour, WorkerKilledInMidMeasurementCostsTheCandidateAtWorkOnly) {
  const std::string announced = shared_->file("announced");
  std::filesystem::create_directory(announced);
  ::setenv("COLLAGE_TEST_ANNOUNCE", announced.c_str(), 1);
  const Killer killer(announced);
  const auto report = tune_with(options_with({"test:fault=run-hang"}));
  ASSERT_TRUE(report) << to_string(report.error());
  expect_refused("test:fault=run-hang", RefusalReason::kResources);
  // One that dies while it is verified ahead has another try when its turn comes.
  const std::size_t candidates = costs_of("test:fault=run-hang").size();
  EXPECT_GE(static_cast<std::size_t>(killer.killed()), candidates);
  EXPECT_LE(static_cast<std::size_t>(killer.killed()), 2 * candidates);
  expect_the_same_plan();
}

TEST_F(Misbehaviour, WorkerKilledWhileRecordingIsReplaced) {
  std::jthread killer;
  TuneOptions with = options_with({});
  with.progress = [&](const ProgressEvent& event) {
    if (event.phase != "record" || killer.joinable()) return;
    killer = std::jthread([](const std::stop_token& stop) {
      while (!stop.stop_requested())
        for (const pid_t pid : shared_->processes()) {
          ::kill(pid, SIGKILL);
          return;
        }
    });
  };
  const auto report = tune_with(with);
  ASSERT_TRUE(report) << to_string(report.error());
  expect_the_same_plan();
}

/// A progress watcher that lets the fault of test backends come true from the start of `phase` on.
Progress arm_at(const std::string& phase, const std::string& file) {
  ::setenv("COLLAGE_TEST_ARMED", file.c_str(), 1);
  return [=](const ProgressEvent& event) {
    if (event.phase == phase) std::ofstream(file) << "armed";
  };
}

TEST_F(Misbehaviour, CrashOfAPlanThatWasMeasuredFineCostsThatPlanOnly) {
  TuneOptions with = options_with({"test:fault=run-crash"});
  with.progress = arm_at("search", shared_->file(store_ + ".armed"));
  const auto report = tune_with(with);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_GT(report->measured, 0U);
  const auto failed = std::ranges::find_if(
      report->notes, [](const std::string& note) { return note.starts_with("mixed takes no part: "); });
  EXPECT_NE(failed, report->notes.end());
  EXPECT_EQ(report->backends.count("test:fault=run-crash"), 0U);
  const auto plan = load_plan(report->plan);
  ASSERT_TRUE(plan);
  for (const PlanStep& step : plan->plan.steps) EXPECT_NE(step.backend, "test:fault=run-crash");
}

TEST_F(Misbehaviour, CandidateThatFailsWhereItIsNeededIsReplaced) {
  TuneOptions with = options_with({"test:fault=compile-throw"});
  with.progress = arm_at("search", shared_->file(store_ + ".armed"));
  // One structure at two places: the second place is compiled after the search, when the fault has come true. The
  // artifact of the whole is not kept, so that it has to be compiled again too.
  const auto measured = tune_with(with);
  ASSERT_TRUE(measured) << to_string(measured.error());
  EXPECT_GT(measured->measured, 0U);
  for (const auto& entry : std::filesystem::directory_iterator(shared_->file(store_ + ".files")))
    std::filesystem::remove(entry.path());
  const auto report = tune_with(with);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(report->measured, 0U);
  EXPECT_EQ(report->backends.count("test:fault=compile-throw"), 0U);
  // There is a mixed plan of the others, at their price.
  EXPECT_GE(report->cover_us, kFixedNs / 1000) << ::testing::PrintToString(report->notes);
}

}  // namespace
}  // namespace collage
