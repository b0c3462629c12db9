// Tunes killed at random moments: what they had measured is not measured again.
#include <signal.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"
#include "tests/support/long_run.h"

namespace collage::testing {
namespace {

class ResumeTest : public TestBackendsTest {
 protected:
  [[nodiscard]] std::vector<std::string> tune_into(const std::string& store) const {
    return {"tune",       file("model.onnx"),
            "-o",         file("model.collage"),
            "--budget",   "30s",
            "--quiet",    "--measure-all",
            "--backends", "test,test:build=other",
            "--store",    store,
            "--json",     "-"};
  }

  struct Stored {
    int costs = 0;
    int refusals = 0;
  };
  [[nodiscard]] Stored stored_in(const std::string& store) const {
    const Ended ended = run({"db", "stats", "--store", store, "--json", "-"});
    expect_good(ended);
    const nlohmann::json stats = parsed(ended.out);
    EXPECT_EQ(stats["set_aside"], 0);
    return {.costs = stats["costs"], .refusals = stats["refusals"]};
  }
};

TEST_F(ResumeTest, KilledTuneMeasuresNothingTwice) {
  const int trials = test::by_length(2, 100);
  const std::uint32_t seed = 517;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 dice(seed);
  (void)given("model.onnx", chain(7));
  bool is_anything_reused = false;
  // On a busy machine nothing may be stored yet when a tune is killed: then later ones are killed later.
  constexpr int kMostPatience = 32;
  int patience = 1;
  for (int trial = 0; trial < trials || (!is_anything_reused && patience < kMostPatience); ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const std::string store = file("costs" + std::to_string(trial));
    Stored before;
    for (int kill = 0; kill < 2; ++kill) {
      Program program(home(), tune_into(store));
      std::this_thread::sleep_for(patience * std::chrono::milliseconds(300 + dice() % 1200));
      program.send(SIGKILL);
      (void)program.wait();
      const Stored after = stored_in(store);
      EXPECT_GE(after.costs, before.costs) << "a record was lost";
      before = after;
    }
    const Ended ended = run(tune_into(store));
    expect_good(ended);
    const nlohmann::json report = parsed(ended.out);
    const Stored all = stored_in(store);
    // A second measurement of something stored would count as measured and add no record.
    EXPECT_EQ(report["measured"].get<int>() + all.refusals - before.refusals, all.costs - before.costs);
    if (before.costs > 0) {
      EXPECT_GT(report["reused"], 0);
    }
    is_anything_reused |= before.costs > 0;
    if (before.costs == 0) patience *= 2;
    expect_good(run({"verify", file("model.collage")}));
  }
  EXPECT_TRUE(is_anything_reused) << "every kill came too early to show anything";
}

}  // namespace
}  // namespace collage::testing
