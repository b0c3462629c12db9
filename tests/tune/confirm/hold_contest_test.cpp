#include "tune/confirm/hold_contest.h"

#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace collage {
namespace {

/// Contests between plans whose files say how they run (scripted_worker.cpp).
class HoldContest : public ::testing::Test {
 protected:
  HoldContest() { options.output = folder.file("out.collage"); }

  void add(const std::string& name, const std::string& script, bool is_rival = false) {
    contest.add({.name = name, .is_rival = is_rival, .file = script});
  }
  Contestant& competing(const std::string& name) {
    const auto found = std::ranges::find(contest.competing, name, &Contestant::name);
    EXPECT_NE(found, contest.competing.end()) << name;
    return *found;
  }
  /// The winner's name, or the error's code.
  std::string winner() {
    const auto held = judge(task, env, 0, contest);
    return held ? contest.winner().name : held.error().code;
  }
  /// Against whom the engine lost by a factor of three.
  void let_a_cover_win() {
    add("engine", R"({"heat": 3000})", true);
    add("cover", R"({"heat": 1000})");
    EXPECT_EQ(winner(), "cover");
    EXPECT_EQ(contest.competing.size(), 1U) << "the engine is not timed again";
  }

  WorkFolder folder = *WorkFolder::create();
  Registry registry{{}};
  Store store = *Store::open("memory:");
  WorkerProcess worker{{test::build_path("/tests/scripted_worker")}};
  ReproKeeper repros{""};
  PlanPacker packer{registry, folder};
  Budget budget{600};
  DeadlineLog deadlines;
  Progress progress = [](const auto&) {};
  ProgressMeter meter{{}, 600, [] { return 0.0; }};
  StageDump dump{""};
  const MeasureEnv env{.registry = registry,
                       .folder = folder,
                       .store = store,
                       .worker = worker,
                       .repros = repros,
                       .packer = packer,
                       .budget = budget,
                       .deadlines = deadlines,
                       .meter = meter,
                       .progress = progress,
                       .dump = dump,
                       .user_stop = {},
                       .stop = {}};
  TuneOptions options;
  Prepared prepared;
  Participants who;
  const TuneTask task{.options = options, .prepared = prepared, .who = who};
  Contest contest;
};

TEST_F(HoldContest, RatiosOfEnginesFollowTheNextWinner) {
  let_a_cover_win();
  add("better", R"({"heat": 800})");
  EXPECT_EQ(winner(), "better");
  ASSERT_EQ(contest.beaten.size(), 1U);
  EXPECT_DOUBLE_EQ(contest.beaten.front().ratio->ratio, 3 / 0.8);
}

TEST_F(HoldContest, EnginesCompeteAgainWhereThePlanThatBeatThemFails) {
  let_a_cover_win();
  competing("cover").file = R"({"fails": "worn out"})";
  add("slower", R"({"heat": 2500})");
  EXPECT_EQ(winner(), "slower");
  EXPECT_EQ(competing("engine").verdict, Verdict::kFaster) << "timed against the winner";
  EXPECT_DOUBLE_EQ(competing("engine").ratio->ratio, 1.2);
}

TEST_F(HoldContest, AnEngineWinsWhereAllPlansThatBeatItFail) {
  let_a_cover_win();
  competing("cover").file = R"({"fails": "worn out"})";
  add("other", R"({"fails": "never worked"})");
  EXPECT_EQ(winner(), "engine");
}

TEST_F(HoldContest, TheNextContestIsToldToBeShorterWithoutEngines) {
  let_a_cover_win();
  EXPECT_EQ(contest.last.plans, 1U);
}

}  // namespace
}  // namespace collage
