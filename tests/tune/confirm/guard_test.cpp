#include "tune/confirm/guard.h"

#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tune/jobs.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

class Guard : public ::testing::Test {
 protected:
  void add(const std::string& name, const std::string& script, std::size_t steps = 1) {
    entries.push_back({.timed = {.name = name, .file = script}, .steps = steps});
  }

  /// The winner's name, or the error's code.
  std::string winner() {
    auto judged = judge(entries, options, worker);
    if (!judged) return judged.error().code;
    verdict = *judged;
    EXPECT_EQ(verdict.median_ns.size(), entries.size());
    EXPECT_EQ(verdict.failures.size(), entries.size());
    EXPECT_EQ(verdict.step_ns.size(), entries.size());
    return entries.at(verdict.winner).timed.name;
  }

  std::vector<PlanToJudge> entries;
  GuardOptions options;
  GuardVerdict verdict;
  WorkerProcess worker{{test::build_path("/tests/scripted_worker")}};
};

TEST_F(Guard, FastestWins) {
  add("slow", R"({"heat": 1100})");
  add("fast", R"({"heat": 1000})", 9);
  EXPECT_EQ(winner(), "fast");
  EXPECT_EQ(verdict.median_ns, (std::vector<std::int64_t>{1100, 1000}));
  EXPECT_EQ(verdict.step_ns[1], std::vector<std::int64_t>{1000});
}

TEST_F(Guard, SaysHowMuchFasterTheWinnerIsOfWhomItBeatInTheHeatToo) {
  add("slow", R"({"heat": 2000})");
  add("near", R"({"heat": 1100, "final": 1100})");
  add("fast", R"({"heat": 1000, "final": 1000})");
  EXPECT_EQ(winner(), "fast");
  ASSERT_EQ(verdict.ratios.size(), 3U);
  ASSERT_TRUE(verdict.ratios[0] && verdict.ratios[1]);
  EXPECT_DOUBLE_EQ(verdict.ratios[0]->ratio, 2) << "it came no further than the heat";
  EXPECT_DOUBLE_EQ(verdict.ratios[1]->ratio, 1.1);
  EXPECT_LE(verdict.ratios[1]->low, verdict.ratios[1]->high);
  EXPECT_FALSE(verdict.ratios[2]) << "the winner itself";
}

TEST_F(Guard, HeatDecidesWhereThereIsNoTimeForAFinal) {
  add("lucky", R"({"heat": 1000, "final": 1200})");
  add("steady", R"({"heat": 1100, "final": 1100})");
  options.deadline = Clock::now();
  EXPECT_EQ(winner(), "lucky");
  EXPECT_NE(verdict.against[1], Verdict::kSlower);
  options.deadline.reset();
  options.has_final = false;
  EXPECT_EQ(winner(), "lucky");
}

TEST_F(Guard, FinalOverrulesTheHeat) {
  add("lucky", R"({"heat": 1000, "final": 1200})");
  add("steady", R"({"heat": 1100, "final": 1100})");
  EXPECT_EQ(winner(), "steady");
}

TEST_F(Guard, FinalTakesForRightWhatTheHeatFoundRight) {
  add("one", "");
  add("other", "");
  std::vector<std::vector<bool>> asked;
  const auto judged = judge(entries, options, [&](const ConfirmRequest& request) -> Result<std::vector<ConfirmLane>> {
    asked.emplace_back();
    std::vector<ConfirmLane> lanes;
    for (const PlanToTime& plan : request.plans) {
      asked.back().push_back(plan.is_right);
      lanes.push_back({.lane = {.name = plan.name, .samples_ns = std::vector<std::int64_t>(11, 1000)}});
    }
    return lanes;
  });
  ASSERT_TRUE(judged);
  EXPECT_EQ(asked, (std::vector<std::vector<bool>>{{false, false}, {true, true}}));
}

TEST_F(Guard, FewPlansNeedNoHeatWhereNoneIsFarBehind) {
  std::vector<std::size_t> asked;
  const ConfirmRun run = [&](const ConfirmRequest& request) -> Result<std::vector<ConfirmLane>> {
    asked.push_back(request.plans.size());
    std::vector<ConfirmLane> lanes;
    for (std::size_t p = 0; p < request.plans.size(); ++p) {
      const auto ns = static_cast<std::int64_t>(1000 + 100 * p);
      lanes.push_back({.lane = {.name = request.plans[p].name, .samples_ns = std::vector<std::int64_t>(11, ns)}});
    }
    EXPECT_FALSE(request.plans.front().is_right) << "nobody has looked at its numbers";
    return lanes;
  };
  for (const char* name : {"one", "two", "three"}) add(name, "");
  options.has_heat = false;
  auto judged = judge(entries, options, run);
  ASSERT_TRUE(judged);
  EXPECT_EQ(asked, std::vector<std::size_t>{3});
  EXPECT_EQ(judged->winner, 0U);
  EXPECT_EQ(judged->against[2], Verdict::kFaster);
  ASSERT_TRUE(judged->ratios[2]);
  EXPECT_DOUBLE_EQ(judged->ratios[2]->ratio, 1.2);
  for (PlanToJudge& entry : entries) entry.may_win = false;
  judged = judge(entries, options, run);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, kNothingRuns);
}

TEST_F(Guard, ManyPlansHaveAHeatInAnyCase) {
  for (const char* name : {"1", "2", "3", "4", "5", "6", "7"}) add(name, "");
  options.has_heat = false;
  std::size_t asked = 0;
  const auto judged = judge(entries, options, [&](const ConfirmRequest& request) -> Result<std::vector<ConfirmLane>> {
    ++asked;
    std::vector<ConfirmLane> lanes;
    for (const PlanToTime& plan : request.plans)
      lanes.push_back({.lane = {.name = plan.name, .samples_ns = std::vector<std::int64_t>(11, 1000)}});
    return lanes;
  });
  ASSERT_TRUE(judged);
  EXPECT_EQ(asked, 2U) << "heat and final";
}

TEST_F(Guard, InsideTheNoiseThePlanWithFewerStepsWins) {
  add("many steps", R"({"heat": 1000, "final": [1000, 1010, 1001, 1009]})", 20);
  add("few steps", R"({"heat": 1000, "final": [1010, 1000, 1009, 1001]})", 2);
  EXPECT_EQ(winner(), "few steps");
}

TEST_F(Guard, NoiseIsNoReasonToShipWhatSeemsMuchSlower) {
  add("many steps", R"({"heat": 1000, "final": 1000})", 20);
  add("few steps", R"({"heat": 1000, "final": [1100, 900, 1100, 900, 1100]})", 1);
  EXPECT_EQ(winner(), "many steps");
  ASSERT_TRUE(verdict.ratios[1]);
  EXPECT_LE(verdict.ratios[1]->low, 1) << "a difference that is not certain";
}

TEST_F(Guard, WhatAnEntryCostsBesideTimeCounts) {
  add("fast", R"({"heat": 1000})");
  add("frugal", R"({"heat": 1100})");
  entries[0].extra_ns = 200;
  EXPECT_EQ(winner(), "frugal");
  EXPECT_EQ(verdict.median_ns, (std::vector<std::int64_t>{1000, 1100})) << "times stay times";
}

TEST_F(Guard, WhatMayNotWinIsComparedOnly) {
  add("engine", R"({"heat": 1000})");
  add("slower cover", R"({"heat": 2500})");
  add("cover", R"({"heat": 2000})");
  entries[0].may_win = false;
  EXPECT_EQ(winner(), "cover");
  ASSERT_TRUE(verdict.ratios[0]);
  EXPECT_DOUBLE_EQ(verdict.ratios[0]->ratio, 0.5) << "it is twice as fast";
  entries[1].may_win = entries[2].may_win = false;
  EXPECT_EQ(winner(), "tune/nothing-runs");
}

TEST_F(Guard, PlansThatCannotShareAProcessAreTimedApart) {
  add("a", R"({"heat": 1000})");
  add("b", R"({"heat": 900})");
  std::size_t most = 0;
  options.apart = true;
  const auto judged = judge(entries, options, [&](const ConfirmRequest& request) -> Result<std::vector<ConfirmLane>> {
    most = std::max(most, request.plans.size());
    return confirm(worker, request, {}, 60s);
  });
  ASSERT_TRUE(judged) << to_string(judged.error());
  EXPECT_EQ(judged->winner, 1U);
  EXPECT_EQ(most, 1U);
}

TEST_F(Guard, SureDifferenceCountsHoweverSmall) {
  add("many steps", R"({"heat": 1000})", 20);
  add("few steps", R"({"heat": 1010})", 2);
  EXPECT_EQ(winner(), "many steps");
}

TEST_F(Guard, ClearlySlowerEntriesAreNotInTheFinal) {
  add("slow", R"({"heat": 1300, "final": "dies"})");
  add("fast", R"({"heat": 1000})");
  add("near", R"({"heat": 1100})");
  EXPECT_EQ(winner(), "fast");
  EXPECT_EQ(verdict.median_ns[0], 1300);
  EXPECT_EQ(verdict.failures[0], "");
}

TEST_F(Guard, WrongOutputsNeverWin) {
  add("wrong", R"({"fails": "output y: element 3"})");
  add("right", R"({"heat": 1000})");
  EXPECT_EQ(winner(), "right");
  EXPECT_EQ(verdict.failures[0], "output y: element 3");
  EXPECT_EQ(verdict.median_ns[0], 0);
}

TEST_F(Guard, EntryThatKillsTheWorkerInTheHeatCostsOnlyItself) {
  add("a", R"({"heat": 1000})");
  add("deadly", R"({"heat": "dies"})");
  add("b", R"({"heat": 900})");
  EXPECT_EQ(winner(), "b");
  EXPECT_NE(verdict.failures[1].find("SIGABRT"), std::string::npos) << verdict.failures[1];
  EXPECT_EQ(verdict.median_ns[0], 1000);
}

TEST_F(Guard, EntryThatKillsTheWorkerInTheFinalNeverWins) {
  add("deadly", R"({"heat": 800, "final": "dies"})");
  add("a", R"({"heat": 900})");
  add("b", R"({"heat": 910})");
  EXPECT_EQ(winner(), "a");
  EXPECT_NE(verdict.failures[0], "");
  EXPECT_EQ(verdict.median_ns[0], 0);
}

TEST_F(Guard, WhenAllFinalistsFailTheNextOfTheHeatDecide) {
  add("deadly", R"({"heat": 800, "final": "dies"})");
  add("deadly too", R"({"heat": 810, "final": "dies"})");
  add("slow", R"({"heat": 2100})");
  add("less slow", R"({"heat": 2000})");
  EXPECT_EQ(winner(), "less slow");
}

TEST_F(Guard, HangingEntryCostsOnlyItselfAndItsTime) {
  options.patience = 300ms;
  add("hanging", R"({"heat": "hangs"})");
  add("right", R"({"heat": 1000})");
  EXPECT_EQ(winner(), "right");
  EXPECT_NE(verdict.failures[0].find("no sign of life"), std::string::npos) << verdict.failures[0];
}

TEST_F(Guard, EntriesThatCannotLiveTogetherAreTimedAlone) {
  add("a", R"({"heat": 1000, "company": "dies"})");
  add("b", R"({"heat": 900})");
  EXPECT_EQ(winner(), "b");
  EXPECT_EQ(verdict.failures, (std::vector<std::string>{"", ""}));
}

TEST_F(Guard, NothingThatRunsIsAnError) {
  EXPECT_EQ(winner(), "tune/nothing-runs");
  add("wrong", R"({"fails": "output y"})");
  EXPECT_EQ(winner(), "tune/nothing-runs");
}

TEST_F(Guard, SingleEntryNeedsNoFinal) {
  add("only", R"({"heat": 1000, "final": "dies"})");
  EXPECT_EQ(winner(), "only");
}

TEST_F(Guard, StopIsAnInterruption) {
  std::stop_source source;
  source.request_stop();
  options.stop = source.get_token();
  add("only", R"({"heat": "hangs"})");
  EXPECT_EQ(winner(), "tune/interrupted");
}

TEST(GuardVerdicts, SurviveTheStore) {
  const GuardVerdict verdict = {.winner = 1,
                                .median_ns = {5, 4},
                                .step_ns = {{1, 2}, {}},
                                .failures = {"", "bytes \xff that are no text"},
                                .against = {Verdict::kFaster, Verdict::kSame},
                                .ratios = {Ratio{.ratio = 1.25, .low = 1.2, .high = 1.3}, std::nullopt},
                                .seconds = 2.5,
                                .write_s_per_byte = 1e-9};
  const auto back = guard_verdict_from(to_json(verdict));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->winner, 1U);
  EXPECT_EQ(back->median_ns, verdict.median_ns);
  EXPECT_EQ(back->step_ns, verdict.step_ns);
  EXPECT_EQ(back->failures[0], "");
  EXPECT_EQ(back->against, verdict.against);
  ASSERT_TRUE(back->ratios.size() == 2 && back->ratios[0] && !back->ratios[1]);
  EXPECT_EQ(back->ratios[0]->low, 1.2);
  EXPECT_EQ(back->ratios[0]->high, 1.3);
  EXPECT_EQ(back->seconds, verdict.seconds);
  EXPECT_EQ(back->write_s_per_byte, verdict.write_s_per_byte);
  for (const char* broken : {"", "[]", "{}", R"({"winner": "x", "median_ns": [], "step_ns": [], "failures": []})",
                             R"({"winner": 7, "median_ns": [1], "step_ns": [[]], "failures": [""]})"})
    EXPECT_FALSE(guard_verdict_from(broken)) << broken;
}

}  // namespace
}  // namespace collage
