#include "tune/tune.h"

#include <gmock/gmock.h>

#include <set>
#include <stop_token>
#include <thread>

#include "base/json_numbers.h"
#include "plan/explain/explain_node.h"
#include "plan/file/plan_file.h"
#include "tests/tune/tune_fixture.h"
#include "tune/budget.h"

namespace collage {
namespace {

class Tune : public ::testing::Test {
 protected:
  Tune() { test::write_model(test::small_graph(), scratch.file("model.onnx")); }

  void TearDown() override {
    EXPECT_EQ(scratch.temporaries(), std::vector<std::string>{});
    EXPECT_EQ(scratch.processes(), std::vector<pid_t>{});
  }

  [[nodiscard]] TuneOptions options() const { return test::small_tune(scratch, {"onnxruntime", "test"}); }

  test::Scratch scratch;
  Registry registry{test::module_folders()};
};

TEST_F(Tune, WritesAPlanThatGivesTheModelsNumbers) {
  const auto report = tune(options(), registry);
  ASSERT_TRUE(report) << to_string(report.error());
  test::expect_small_graph_numbers(report->plan, registry, {2.0F});
}

TEST_F(Tune, PlanOfTheFastestEngineIsThereBeforeAnythingElseIsMeasured) {
  TuneOptions wanted = options();
  std::string first;
  wanted.progress = [&](const ProgressEvent& event) {
    if (event.phase != "price" || !first.empty()) return;
    EXPECT_GT(event.best_us, 0);
    first = scratch.file("first.collage");
    std::filesystem::copy_file(wanted.output, first);
  };
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  ASSERT_NE(first, "") << "pricing was not reported";
  test::expect_small_graph_numbers(first, registry, {2.0F});
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

/// Sleeps when the phase begins, until so many seconds after now.
Progress pause_in(const std::string& phase, double seconds) {
  return [phase, until = Clock::now() + Seconds(seconds)](const ProgressEvent& event) {
    if (event.phase == phase) std::this_thread::sleep_until(until);
  };
}

TEST_F(Tune, TuneThatRanOutOfTimeGivesTheSameAnswerAgainAndMeasuresNothing) {
  TuneOptions wanted = options();
  wanted.budget_s = 4;
  // Most is not measured yet when pricing reports for the first time, but a cover is known.
  wanted.progress = pause_in("price", wanted.budget_s);
  const auto first = tune(wanted, registry);
  ASSERT_TRUE(first) << to_string(first.error());
  ASSERT_EQ(first->ended.why, Ending::kBudget);
  ASSERT_GT(first->ended.out_of_time, 0U);
  wanted.output = scratch.file("again.collage");
  wanted.progress = {};
  const auto again = tune(wanted, registry);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->measured, 0U);
  EXPECT_EQ(again->ended.out_of_time, first->ended.out_of_time);
  EXPECT_EQ(again->cover, first->cover);
  EXPECT_EQ(again->shipped, first->shipped);
  EXPECT_EQ(again->measured_us, first->measured_us);
  // More time is for going on.
  wanted.budget_s = test::kAmpleBudgetSeconds;
  const auto longer = tune(wanted, registry);
  ASSERT_TRUE(longer) << to_string(longer.error());
  EXPECT_EQ(longer->ended.out_of_time, 0U);
}

TEST_F(Tune, EngineThatHasNotCompiledInTimeIsLeftOut) {
  const std::string second = "onnxruntime:opt=basic";
  TuneOptions wanted = test::small_tune(scratch, {"onnxruntime", second});
  wanted.budget_s = 0.5;
  wanted.progress = pause_in("rivals", wanted.budget_s);
  const auto report = tune(wanted, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_NE(report->shipped, second);
  EXPECT_EQ(report->ended.why, Ending::kBudget) << "a larger one asks it";
  EXPECT_THAT(report->notes, ::testing::Contains(::testing::HasSubstr(second + " left out: it had not compiled")));
}

TEST_F(Tune, EnginesThatTakeLongerThanATuneMayLeaveNoTimeForProposals) {
  TuneOptions wanted = options();
  wanted.budget_s = 0.5;
  wanted.progress = pause_in("confirm", Budget(wanted.budget_s).most_s());
  const auto late = tune(wanted, registry);
  ASSERT_TRUE(late) << to_string(late.error());
  EXPECT_EQ(late->candidates, 0U);
  EXPECT_NE(late->shipped, "cover");
  EXPECT_EQ(late->ended.why, Ending::kBudget);
  EXPECT_THAT(late->notes,
              ::testing::Contains(::testing::HasSubstr("the budget ended while the engines ran the model")));

  wanted.progress = {};
  wanted.output = scratch.file("again.collage");
  const auto again = tune(wanted, registry);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->candidates, 0U) << "the same answer as before";
  EXPECT_EQ(again->shipped, late->shipped);

  wanted.budget_s = test::kAmpleBudgetSeconds;
  const auto longer = tune(wanted, registry);
  ASSERT_TRUE(longer) << to_string(longer.error());
  EXPECT_GT(longer->candidates, 0U);
}

/// Of all candidates that a plan's explanation lists as never measured.
std::vector<ExplainedCandidate> unmeasured_in(const std::string& plan) {
  const auto loaded = load_plan(plan);
  const auto explanation = explanation_in(loaded.value().plan);
  EXPECT_TRUE(explanation) << to_string(explanation.error());
  std::set<std::uint32_t> found;
  for (const ExplainedNode& node : explanation->nodes) found.insert(node.unmeasured.begin(), node.unmeasured.end());
  std::vector<ExplainedCandidate> list;
  for (const std::uint32_t c : found) list.push_back(explanation->candidates[c]);
  return list;
}

TEST_F(Tune, SaysWhatWasNotMeasuredAndWhy) {
  // Without time single operators are measured all the same, so that there is a plan; regions wait for their turn.
  TuneOptions hasty = options();
  hasty.budget_s = 0.001;
  hasty.measures_all = true;
  auto report = tune(hasty, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const std::vector<ExplainedCandidate> late = unmeasured_in(report->plan);
  EXPECT_FALSE(late.empty());
  for (const ExplainedCandidate& candidate : late) {
    EXPECT_GT(candidate.nodes.size(), 1U);
    EXPECT_EQ(candidate.why_unmeasured, Unmeasured::kOutOfTime);
    EXPECT_GT(candidate.cost_at_least_ns, 0) << "its roofline";
    EXPECT_FALSE(candidate.cost_ns);
  }
  std::stop_source stop;
  stop.request_stop();
  hasty.stop = stop.get_token();
  hasty.store = "memory:";
  report = tune(hasty, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  for (const ExplainedCandidate& candidate : unmeasured_in(report->plan))
    EXPECT_EQ(candidate.why_unmeasured, Unmeasured::kStopped);

  TuneOptions lazy = options();
  lazy.budget_s = 10;
  report = tune(lazy, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  for (const ExplainedCandidate& candidate : unmeasured_in(report->plan))
    EXPECT_EQ(candidate.why_unmeasured, Unmeasured::kNotNeeded);
  lazy.measures_all = true;
  report = tune(lazy, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_EQ(unmeasured_in(report->plan).size(), 0U);
}

TEST_F(Tune, ExplainsOtherCoversOfTheSameGraph) {
  TuneOptions all = options();
  all.measures_all = true;  // else what cannot win may stay without a cost
  const auto report = tune(all, registry);
  ASSERT_TRUE(report) << to_string(report.error());
  const auto explanation = explanation_in(load_plan(report->plan).value().plan);
  ASSERT_TRUE(explanation) << to_string(explanation.error());
  EXPECT_EQ(explanation->why_no_alternatives, "");
  EXPECT_FALSE(explanation->alternatives.empty()) << "two backends take all of it";
  EXPECT_TRUE(explanation->alternatives_complete) << "a graph of four nodes";
  for (const ExplainedAlternative& other : explanation->alternatives) {
    EXPECT_GT(other.changed, 0U);
    EXPECT_FALSE(other.steps.empty());
    EXPECT_GE(other.cost_ns, *explanation->model_bound_ns);
  }
}

TEST_F(Tune, WhatAWorkerProposedIsNotAskedAgain) {
  const std::string file = scratch.file("asked");
  TuneOptions wanted = test::small_tune(scratch, {"onnxruntime", "test:asked=" + file});
  wanted.dump = "pool";
  const auto asked_here = [&] {
    std::ifstream lines(file);
    std::size_t count = 0;
    for (pid_t who = 0; lines >> who;) count += who == ::getpid() ? 1 : 0;
    return count;
  };
  std::optional<std::size_t> before;
  std::optional<std::size_t> after;
  wanted.progress = [&](const ProgressEvent& event) {
    if (event.phase == "propose" && !before) before = asked_here();
    if (event.phase != "propose" && before && !after) after = asked_here();
  };
  const auto asked_while_proposing = [&](const TuneOptions& options, std::string& pool) -> std::size_t {
    before = after = std::nullopt;
    const auto report = tune(options, registry);
    EXPECT_TRUE(report) << to_string(report.error());
    EXPECT_TRUE(before && after);
    pool = report ? report->stage : "";
    return after.value_or(0) - before.value_or(0);
  };
  std::string of_the_worker;
  EXPECT_EQ(asked_while_proposing(wanted, of_the_worker), 0U);
  EXPECT_NE(of_the_worker.find("test:asked"), std::string::npos);
  // Known to go well with this graph, so that no worker is asked.
  std::string made_here;
  EXPECT_GT(asked_while_proposing(wanted, made_here), 0U);
  EXPECT_EQ(made_here, of_the_worker);
  // A worker knows nothing of rules.
  wanted.store = scratch.file("other costs");
  wanted.user_rules = parse_user_rules("limit test: nodes<=1", "rules").value();
  std::string with_rules;
  EXPECT_GT(asked_while_proposing(wanted, with_rules), 0U);
  EXPECT_LT(with_rules.size(), of_the_worker.size());
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
