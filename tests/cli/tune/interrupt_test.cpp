// Signals during tune, at every stage: what is there afterwards is a plan that runs or nothing.
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using Clock = std::chrono::steady_clock;

class InterruptTest : public CliTest {
 protected:
  InterruptTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {}

  std::vector<std::string> slow_tune() const {
    return {"tune",    model_,    "-o",      plan_,      "--budget",    "60s",
            "--quiet", "--store", "memory:", "--events", file("events")};
  }

  /// Waits until a tune with --events has begun this phase.
  void await(const std::string& phase) const {
    const auto deadline = Clock::now() + 30s;
    while (read_all(file("events")).find("\"phase\":\"" + phase + "\"") == std::string::npos) {
      ASSERT_LT(Clock::now(), deadline) << "no phase " << phase;
      std::this_thread::sleep_for(1ms);
    }
  }

  /// True when nobody is left within two seconds.
  bool all_processes_end() const {
    for (int tries = 0; tries < 200; ++tries) {
      if (processes_of(home()).empty()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  std::string model_;
  std::string plan_;
};

class InterruptedInPhase : public InterruptTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(InterruptedInPhase, LeavesAPlanThatRunsOrNothing) {
  Program program(home(), slow_tune());
  await(GetParam());
  program.send(SIGINT);
  const auto start = Clock::now();
  const Ended ended = program.wait(20s);
  EXPECT_LT(Clock::now() - start, 15s);
  EXPECT_TRUE(all_processes_end());
  EXPECT_THAT(temporaries(), IsEmpty());
  if (ended.exit_code == 0) {
    expect_good(run({"run", plan_}));
    expect_good(run({"verify", plan_}));
  } else {
    EXPECT_EQ(ended.exit_code, 130) << describe(ended);
    EXPECT_THAT(names(), Not(Contains("model.collage")));
  }
  EXPECT_THAT(names(), Not(Contains(::testing::StartsWith("."))));
}

INSTANTIATE_TEST_SUITE_P(Interrupt, InterruptedInPhase, ::testing::Values("import", "rivals", "price", "confirm"),
                         [](const auto& named) { return named.param; });

TEST_F(InterruptTest, ShipsTheBestPlanSoFar) {
  Program program(home(), slow_tune());
  await("price");
  program.send(SIGINT);
  const Ended ended = program.wait(20s);
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  expect_good(run({"verify", plan_}));
}

TEST_F(InterruptTest, BeforeAnythingIsMeasuredSaysThat) {
  std::vector<std::string> without_engines = slow_tune();
  without_engines.insert(without_engines.end(), {"--backends", "onednn"});
  Program program(home(), without_engines);
  await("import");
  program.send(SIGINT);
  const Ended ended = program.wait(20s);
  expect_error(ended, 130, "tune/interrupted", "stopped before any candidate was measured");
  EXPECT_THAT(names(), Not(Contains("model.collage")));
}

TEST_F(InterruptTest, SecondSignalEndsAtOnce) {
  Program program(home(), slow_tune());
  await("import");
  program.send(SIGINT);
  std::this_thread::sleep_for(20ms);
  program.send(SIGINT);
  const Ended ended = program.wait(2s);
  EXPECT_EQ(ended.exit_code, 130) << describe(ended);
  EXPECT_THAT(names(), Not(Contains("model.collage")));
  EXPECT_TRUE(all_processes_end());
}

TEST_F(InterruptTest, KilledTuneLeavesNoWorkerAndTheNextOneCleansUp) {
  {
    Program program(home(), slow_tune());
    await("price");
    EXPECT_GE(processes_of(home()).size(), 2U) << "the program and a worker";
    program.send(SIGKILL);
    EXPECT_EQ(program.wait(5s).signal, SIGKILL);
  }
  EXPECT_TRUE(all_processes_end());
  EXPECT_THAT(temporaries(), Not(IsEmpty())) << "else this test shows nothing";
  expect_good(run({"run", plan_}));  // the plan of the fastest engine is there, whole
  // As a kill while the plan is written leaves it.
  (void)given(".model.collage.collage-temporary.1.0", "half a plan");
  expect_good(run(
      {"tune", model_, "-o", plan_, "--budget", "1s", "--quiet", "--store", "memory:", "--json", file("report.json")}));
  EXPECT_THAT(temporaries(), IsEmpty());
  EXPECT_THAT(names(), Not(Contains(::testing::StartsWith("."))));
}

TEST_F(InterruptTest, WhatAKilledCompilerLeftIsRemovedByTheNextCommand) {
  const auto is_compiling = [&] {
    std::error_code gone;
    for (std::filesystem::recursive_directory_iterator entry(home() / "tmp", gone), end; !gone && entry != end;
         entry.increment(gone))
      if (entry->path().extension() == ".o") return true;
    return false;
  };
  {
    Program program(
        home(), {"tune", model_, "-o", plan_, "--budget", "60s", "--quiet", "--store", "memory:", "--only", "native"});
    const auto deadline = Clock::now() + 30s;
    while (!is_compiling()) {
      if (Clock::now() > deadline) GTEST_SKIP() << "nothing is compiled here";
      std::this_thread::sleep_for(1ms);
    }
    program.send(SIGKILL);
    EXPECT_EQ(program.wait(5s).signal, SIGKILL);
  }
  EXPECT_TRUE(all_processes_end());
  EXPECT_THAT(temporaries(), Not(IsEmpty())) << "else this test shows nothing";
  expect_good(run({"run", model_}));
  EXPECT_THAT(temporaries(), IsEmpty());
}

TEST_F(InterruptTest, KilledTuneIsResumedFromItsStore) {
  const std::vector<std::string> arguments = {
      "tune",    model_,     "-o",           plan_,     "--budget",          "60s",
      "--quiet", "--events", file("events"), "--store", file("costs.sqlite")};
  {
    Program program(home(), arguments);
    await("search");
    program.send(SIGKILL);
    EXPECT_EQ(program.wait(5s).signal, SIGKILL);
  }
  const Ended ended =
      run({"tune", model_, "-o", plan_, "--budget", "1s", "--quiet", "--json", "-", "--store", file("costs.sqlite")});
  expect_good(ended);
  const nlohmann::json report = parsed(ended.out);
  EXPECT_GT(report["reused"], 0);
  EXPECT_LT(report["measured"], report["reused"]) << "only conversions are priced after the search";
}

}  // namespace
}  // namespace collage::testing
