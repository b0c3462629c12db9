#include "tune/confirm/level2.h"

#include <gtest/gtest.h>

#include "tests/search/level2_fixture.h"
#include "tests/tune/tune_fixture.h"
#include "tune/tune.h"

namespace collage {
namespace {

using testing_support::Level2World;
using testing_support::who;

/// A tune's level 2 over made-up costs: a plan's report holds its cover's steps, and its time is the world's.
class Level2 : public ::testing::Test {
 protected:
  Level2() { plant(6); }

  void plant(std::size_t nodes) {
    world.emplace(Level2World::chain(nodes));
    world->library("library", 1000);
    world->engine("G",
                  [](const NodeSet& region) { return 1200 + 300 * (static_cast<std::int64_t>(region.count()) - 1); });
  }

  [[nodiscard]] Level2Request request() {
    Level2Request made;
    made.problem = world->problem();
    made.question = question;
    made.best_ns = world->run(world->level1()).ns;
    made.realise = [this](const Cover& cover) -> Result<RealisedPlan> {
      if (who(cover) == unrealisable) return fail(ExitCode::kUnsupported, "tune/no-artifact", "plan", "a refusal");
      RealisedPlan plan;
      plan.plan.name = who(cover);
      times[who(cover)] = world->run(cover);
      return plan;
    };
    made.time = [this](const RealisedPlan& plan) -> Result<Evaluation> {
      timed.push_back(plan.plan.name);
      return times.at(plan.plan.name);
    };
    made.seconds = seconds;
    return made;
  }

  /// Who runs the plan found; "nothing" when there is none.
  std::string found() { return found(request()); }
  std::string found(const Level2Request& asked) {
    timed.clear();
    const auto evolved = find_evolved_plan(asked, store);
    if (!evolved) return "nothing";
    EXPECT_EQ(evolved->plan.plan.name, who(evolved->cover));
    return who(evolved->cover);
  }

  std::optional<Level2World> world;
  Store store = Store::open("memory:").value();
  std::string question = "a model on a machine";
  std::string unrealisable;
  double seconds = 60;
  std::vector<std::string> timed;
  std::map<std::string, Evaluation> times;
};

TEST_F(Level2, FindsThePlanThatLevelOneMisses) {
  EXPECT_EQ(who(world->level1()), "library library library library library library");
  EXPECT_EQ(found(), "G[6]");
  EXPECT_FALSE(timed.empty());
}

TEST_F(Level2, SameQuestionNeedsNoMeasurement) {
  ASSERT_EQ(found(), "G[6]");
  EXPECT_EQ(found(), "G[6]");
  EXPECT_EQ(timed, std::vector<std::string>{});
  question = "another model";
  EXPECT_EQ(found(), "G[6]");
  EXPECT_FALSE(timed.empty());
}

TEST_F(Level2, NothingBetterIsAnAnswerToo) {
  Level2Request hopeless = request();
  hopeless.best_ns = 100;
  EXPECT_EQ(found(hopeless), "nothing");
  EXPECT_FALSE(timed.empty());
  EXPECT_EQ(found(hopeless), "nothing");
  EXPECT_EQ(timed, std::vector<std::string>{});
}

TEST_F(Level2, SearchCutShortIsTakenUpAgainByALargerBudgetOnly) {
  seconds = 1e-9;
  EXPECT_EQ(found(), "nothing");
  EXPECT_EQ(found(), "nothing");
  seconds = 60;
  EXPECT_EQ(found(), "G[6]");
  seconds = 1e-9;
  EXPECT_EQ(found(), "G[6]");
}

TEST_F(Level2, PlansTimedBeforeAreNotTimedAgain) {
  Contestant level1{.name = "cover", .plan = {}, .cover = world->level1()};
  level1.median_ns = world->run(level1.cover).ns;
  Contestant whole{
      .name = "G on everything", .plan = {}, .cover = world->cover_of(genome_of_one(6, {OwnerKind::kRegion, "G"}))};
  whole.failure = "wrong numbers";
  Level2Request asked = request();
  asked.timed = {&level1, &whole};
  const std::string best = found(asked);
  EXPECT_NE(best, "G[6]") << "it failed before";
  EXPECT_NE(best, "nothing");
  for (const Contestant* known : asked.timed) EXPECT_EQ(std::ranges::count(timed, who(known->cover)), 0) << known->name;
}

TEST_F(Level2, PlanThatCannotBeRealisedCostsItselfOnly) {
  unrealisable = "G[6]";
  const std::string best = found();
  EXPECT_NE(best, "G[6]");
  EXPECT_NE(best, "nothing");
}

TEST_F(Level2, NeedsAnEngineAndTwoBlocks) {
  Level2Request without_engines = request();
  without_engines.problem.engines.clear();
  EXPECT_EQ(found(without_engines), "nothing");
  plant(1);
  EXPECT_EQ(found(), "nothing");
  EXPECT_EQ(timed, std::vector<std::string>{});
}

TEST_F(Level2, StoppedSearchIsNotRemembered) {
  std::stop_source source;
  Level2Request stopping = request();
  stopping.evolve.stop = source.get_token();
  stopping.time = [&](const RealisedPlan& plan) -> Result<Evaluation> {
    timed.push_back(plan.plan.name);
    source.request_stop();
    return fail(ExitCode::kInterrupted, "tune/interrupted", "job", "a stop");
  };
  EXPECT_EQ(found(stopping), "nothing");
  EXPECT_EQ(timed.size(), 1U);
  EXPECT_EQ(found(), "G[6]");
}

TEST(Level2Seconds, AreAQuarterOfTheBudgetAndLessForShortTunes) {
  EXPECT_EQ(level2_seconds(300, 200), 75);
  EXPECT_EQ(level2_seconds(300, 280), 20);
  EXPECT_EQ(level2_seconds(300, 10), 5);
  EXPECT_EQ(level2_seconds(300, 1), 2);
  EXPECT_LE(level2_seconds(300, 301), 0);
}

TEST(PairEvaluations, AreTheKnownTimeTimesThePairedRatio) {
  // A mood of the machine doubles both lanes of a round.
  std::vector<ConfirmLane> lanes(2);
  lanes[0].lane = {.name = "plan", .samples_ns = {90, 180, 90}};
  lanes[0].step_ns = {40, 50};
  lanes[1].lane = {.name = "other", .samples_ns = {100, 200, 100}};
  const auto evaluation = evaluation_of(lanes, 5000);
  ASSERT_TRUE(evaluation);
  EXPECT_NEAR(static_cast<double>(evaluation->ns), 4500, 1);
  EXPECT_EQ(evaluation->step_ns, lanes[0].step_ns);
  lanes[0].failure = "output y: element 3";
  EXPECT_EQ(evaluation_of(lanes, 5000).error().code, "tune/plan-failed");
}

/// Level 2 in a real tune, with real plans in a real worker.
TEST(Level2InATune, RunsOnceForAQuestionAndLeavesNothingBehind) {
  test::Scratch scratch;
  test::write_model(test::small_graph(), scratch.file("model.onnx"));
  Registry registry(test::module_folders());
  int phases = 0;
  TuneOptions options;
  options.model = scratch.file("model.onnx");
  options.output = scratch.file("model.collage");
  options.backends = {"onnxruntime", "test"};
  options.store = scratch.file("costs");
  options.budget_s = test::kAmpleBudgetSeconds;
  options.worker_command = test::worker_command();
  options.progress = [&](const ProgressEvent& event) { phases += event.phase == "evolve" ? 1 : 0; };
  const auto first = tune(options, registry);
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_GT(phases, 0);
  phases = 0;
  const auto second = tune(options, registry);
  ASSERT_TRUE(second) << to_string(second.error());
  EXPECT_EQ(phases, 0);
  EXPECT_EQ(second->measured, 0U);
  EXPECT_EQ(second->shipped, first->shipped);
  EXPECT_EQ(second->measured_us, first->measured_us);
  EXPECT_EQ(scratch.temporaries(), std::vector<std::string>{});
}

}  // namespace
}  // namespace collage
