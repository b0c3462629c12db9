// What tune, bench and explain tell of the same plan: that it agrees, and that nothing is left out.
#include <signal.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <thread>

#include "tests/cli/changed_plan.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ToldTest : public CliTest {
 protected:
  ToldTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {}

  [[nodiscard]] json tune(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--json", "-"});
    const Ended ended = tuned_once(model_, plan_, more);
    expect_good(ended);
    return parsed(ended.out);
  }
  [[nodiscard]] json told(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Ended ended = run(arguments);
    expect_good(ended);
    return parsed(ended.out);
  }
  std::string model_;
  std::string plan_;
};

TEST_F(ToldTest, StepsAreCountedAlikeEverywhere) {
  const json report = tune();
  const json story = told({"explain", plan_});
  EXPECT_EQ(story["step_count"], report["steps"]);
  EXPECT_EQ(story["view_count"], report["views"]);
  EXPECT_EQ(story["step_backends"], report["backends"]);
  EXPECT_EQ(story["steps"].size(), report["steps"]) << "no bodies here";
  std::size_t steps = 0;
  for (const auto& [name, count] : report["backends"].items()) steps += count.get<std::size_t>();
  EXPECT_EQ(steps, report["steps"]);
}

TEST_F(ToldTest, BoundCoverAndSumStandInThisOrder) {
  // A short tune measures little and ships what it forecast; a mixed plan of small backends has launches to pay.
  for (const char* budget : {"1s", "3s"}) {
    SCOPED_TRACE(budget);
    const json report = told({"tune", model_, "-o", plan_, "--budget", budget, "--quiet", "--store",
                              "memory:", "--backends", "native,onednn"});
    const json story = told({"explain", plan_});
    const json& gaps = story["gaps"];
    if (!gaps.contains("cover_us")) continue;
    EXPECT_LE(gaps["proven_bound_us"], gaps["model_bound_us"]);
    EXPECT_LE(gaps["model_bound_us"], gaps["cover_us"]);
    EXPECT_LE(report["model_bound_us"], report["cover_us"]);
    if (story["sums"].is_null()) continue;  // an engine shipped
    const json& sums = story["sums"];
    EXPECT_LE(report["cover_us"], sums["total_us"].get<double>() + 0.001);
    EXPECT_EQ(sums["total_us"], gaps["cover_us"]);
    double measured = 0;
    double estimated = 0;
    for (const json& step : story["steps"])
      (step["estimated"].get<bool>() ? estimated : measured) += step["cost_us"].get<double>();
    EXPECT_NEAR(measured, sums["measured_us"], 1e-6);
    EXPECT_NEAR(estimated, sums["estimated_us"], 1e-6);
    EXPECT_NEAR(measured + estimated + sums["launch_us"].get<double>(), sums["total_us"], 1e-6);
  }
}

TEST_F(ToldTest, PlansHaveNamesOfTheirOwnThatSayWhatTheyAre) {
  const json report = tune();
  std::set<std::string> names = {report["title"].get<std::string>()};
  for (const json& plan : report["plans"]) {
    const std::string name = plan["name"];
    EXPECT_TRUE(names.insert(name).second) << name << " twice";
    EXPECT_THAT(name, AnyOf(::testing::StartsWith("mixed"), EndsWith("as a whole"), HasSubstr(" as a whole, "),
                            HasSubstr(" alone")));
    if (!plan.contains("ratio")) continue;
    EXPECT_LE(plan["low"], plan["ratio"]);
    EXPECT_GE(plan["high"], plan["ratio"]);
  }
  const json loss = told({"explain", plan_})["losses"]["apparent_loss"];
  ASSERT_TRUE(loss.is_object());
  EXPECT_THAT(loss["against"].get<std::string>(), Not(HasSubstr("rest by"))) << "a single backend";
}

TEST_F(ToldTest, TuneSaysHowItEndedAndWhatItLeft) {
  const Ended ended = run(quick_tune(model_, plan_, {"--json", file("report.json")}));
  expect_good(ended);
  const json report = parsed(read_all(file("report.json")));
  EXPECT_THAT(report["ended"]["why"], AnyOf("complete", "budget"));
  EXPECT_EQ(report["ended"]["unmeasured"].get<int>(), report["ended"]["not_needed"].get<int>() +
                                                          report["ended"]["out_of_time"].get<int>() +
                                                          report["ended"]["not_before_stop"].get<int>());
  EXPECT_THAT(ended.out, AnyOf(HasSubstr("\nended complete"), HasSubstr("\nended by the budget")));
  EXPECT_THAT(ended.out, HasSubstr("x ["));
  EXPECT_THAT(ended.out, Not(HasSubstr("unsure")));
  EXPECT_THAT(ended.out, Not(HasSubstr("too small for a first plan")));
}

TEST_F(ToldTest, ASignalIsToldWithItsTime) {
  Program program(home(), {"tune", model_, "-o", plan_, "--budget", "60s", "--quiet", "--store", "memory:", "--events",
                           file("events")});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (read_all(file("events")).find("\"phase\":\"confirm\"") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  program.send(SIGINT);
  const Ended ended = program.wait(std::chrono::seconds(20));
  ASSERT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_THAT(ended.out, HasSubstr("stopped by a signal after "));
  EXPECT_THAT(ended.out, HasSubstr(", in phase "));
}

TEST_F(ToldTest, EveryRuleSaysWhatItDid) {
  const std::string rules = given("rules.txt", "ban onednn: LSTM\nfuse onnxruntime tail: Gemm* Softmax*\n");
  const Ended ended = run(quick_tune(model_, plan_,
                                     {"--rules", rules, "--ban", "Conv*=openvino", "--json", file("report.json"),
                                      "--backends", "onednn,onnxruntime,openvino"}));
  ASSERT_EQ(ended.exit_code, 0) << describe(ended);
  const json effects = parsed(read_all(file("report.json")))["rules"];
  ASSERT_EQ(effects.size(), 3U);
  EXPECT_EQ(effects[0]["rule"], "--ban Conv*=openvino");
  EXPECT_EQ(effects[1]["matched"], 0);
  EXPECT_EQ(effects[1]["mattered"], false);
  EXPECT_THAT(ended.out, HasSubstr("rules.txt:1 ban onednn: LSTM: matched nothing in this model"));
  EXPECT_EQ(effects[2]["matched"], 1);
  EXPECT_EQ(effects[2]["mattered"], true);
  // And explain names the line where somebody else might have run the node.
  const json story = told({"explain", plan_});
  for (const json& node : story["nodes"])
    if (node["node"].get<std::string>().starts_with("Softmax")) {
      const json answer = told({"explain", plan_, "--why-not", node["node"].get<std::string>() + "=onednn"});
      EXPECT_EQ(answer["verdict"], "ruled") << answer;
      EXPECT_THAT(answer["why"].get<std::string>(), HasSubstr("rules.txt:2"));
    }
}

TEST_F(ToldTest, PinsAndBansThatLeaveNobodyAreNamedWithTheNode) {
  const Ended ended = run(quick_tune(model_, plan_, {"--pin", "Conv*=onednn", "--ban", "Conv*=onednn"}));
  expect_error(ended, 4, "tune/nobody-left", "--ban Conv*=onednn");
  EXPECT_THAT(ended.err, HasSubstr("leave nobody for Conv"));
}

TEST_F(ToldTest, ACapThatIsTooSmallSaysWhatIsNeeded) {
  const Ended ended = run(quick_tune(model_, plan_, {"--memory-cap", "1", "--backends", "onednn"}));
  expect_error(ended, 5, "search/no-cover", "--memory-cap: saw 1 bytes; allowed at least ");
}

TEST_F(ToldTest, BenchSaysInWhichPrecisionAndThatNumbersAreRight) {
  (void)tune({"--backends", "onednn"});
  const json report = told({"bench", plan_, "--seconds", "0.05"});
  for (const json& contender : report["contenders"]) {
    EXPECT_EQ(contender["precision"], "f32");
    EXPECT_EQ(contender["numbers"]["verdict"], "right") << contender;
  }
  EXPECT_EQ(report["best_rival"]["counts"], true);
  EXPECT_EQ(report["interrupted"], false);
}

TEST_F(ToldTest, BenchNamesARivalWithWrongNumbersAndDoesNotCountIt) {
  (void)tune({"--backends", "onednn"});
  const std::string changed = with_other_weights(plan_, file("changed.collage"));
  const std::vector<std::string> asked = {"bench", plan_, "--seconds", "0.05", "--against", changed + ",onnxruntime"};
  const json report = told(asked);
  EXPECT_EQ(report["contenders"][0]["numbers"]["verdict"], "right");
  EXPECT_EQ(report["contenders"][1]["numbers"]["verdict"], "wrong");
  EXPECT_EQ(report["contenders"][1]["numbers"]["output"], "scores");
  // Null stands for a NaN among the outputs.
  const json& worst = report["contenders"][1]["numbers"]["max_abs"];
  EXPECT_TRUE(worst.is_null() || worst > 0) << worst;
  EXPECT_EQ(report["ratios"][0]["counts"], false);
  EXPECT_EQ(report["best_rival"]["against"], "onnxruntime");
  const Ended text = run(asked);
  expect_good(text);
  EXPECT_THAT(text.out, HasSubstr("WRONG NUMBERS"));
  EXPECT_THAT(text.out, HasSubstr("output scores: element "));
  EXPECT_THAT(text.out, HasSubstr("against the best rival, onnxruntime: "));
}

TEST_F(ToldTest, BenchOfAPlanWithWrongNumbersFindsADifference) {
  (void)tune({"--backends", "onednn"});
  const Ended ended = run(
      {"bench", with_other_weights(plan_, file("changed.collage")), "--seconds", "0.05", "--against", "onnxruntime"});
  EXPECT_EQ(ended.exit_code, 1) << describe(ended);
  EXPECT_THAT(ended.out, HasSubstr("WRONG NUMBERS"));
}

/// Gives numbers up to `most` as they are.
std::string clip_model(double most) {
  return opset_model(
      13, fmt::format("clip (float[4] x) => (float[4] y) <float[1] most = {{{:.6f}}}> {{ y = Min (x, most) }}", most));
}

/// Of four numbers, which are the last of a file.
float largest_in(const std::string& npy) {
  std::array<float, 4> numbers{};
  const std::string bytes = test::read_all(npy);
  std::memcpy(numbers.data(), bytes.data() + bytes.size() - sizeof(numbers), sizeof(numbers));
  return std::ranges::max(numbers);
}

TEST_F(ToldTest, BenchChecksPlansOfClassFastOnMoreInputsThanItTimes) {
  const std::string plan = file("all.collage");
  const std::vector<std::string> fast = {"--backends", "host", "--accuracy", "fast"};
  expect_good(run(quick_tune(given("all.onnx", clip_model(1000)), plan, fast)));
  const auto largest = [&](int seed) {
    const std::string folder = file(fmt::format("seed-{}", seed));
    expect_good(run({"run", plan, "--seed", std::to_string(seed), "--output-dir", folder, "--quiet"}));
    return largest_in(folder + "/output_0.npy");
  };
  int seed = 1;
  float timed = largest(seed);
  for (float next = largest(seed + 1); timed < 0.1F || next < 1.5F * timed; next = largest(seed + 1)) {
    timed = next;
    ASSERT_LT(++seed, 20) << "no set of inputs with a much larger number than the set before it";
  }
  // Right on the inputs that are timed, wrong on the next ones.
  const std::string rival = file("clipped.collage");
  expect_good(run(quick_tune(given("clipped.onnx", clip_model(1.1F * timed)), rival, fast)));
  const json report = told({"bench", plan, "--seconds", "0.05", "--seed", std::to_string(seed), "--against", rival});
  EXPECT_EQ(report["contenders"][0]["numbers"]["verdict"], "right");
  EXPECT_EQ(report["contenders"][1]["numbers"]["verdict"], "wrong");
}

TEST_F(ToldTest, TuneSaysThatTheReferenceRejectsTheFile) {
  // ONNX Runtime reads no operator set that is newer than 26.
  const std::string model =
      given("newer.onnx", opset_model(27, "newer (float[2,3] x) => (float[2,3] y) { y = Relu (x) }"));
  const Ended ended = run(quick_tune(model, plan_, {"--backends", "onednn"}));
  expect_good(ended);
  EXPECT_THAT(ended.out, HasSubstr("note: ONNX Runtime, the reference, rejects this file; numbers were checked on "
                                   "Collage's import instead: "));
}

TEST_F(ToldTest, AnInterruptedBenchSaysSo) {
  (void)tune({"--backends", "onednn"});
  Program program(home(),
                  {"bench", plan_, "--seconds", "30", "--against", "onnxruntime", "--json", file("bench.json")});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  program.send(SIGINT);
  const Ended ended = program.wait(std::chrono::seconds(20));
  ASSERT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_THAT(ended.out, HasSubstr("stopped by a signal after "));
  EXPECT_EQ(parsed(read_all(file("bench.json")))["interrupted"], true);
}

TEST_F(ToldTest, RecheckOfAPlanOfManyShapesNamesThem) {
  const std::string open = given("rows.onnx", matmul_with_open_rows());
  const Ended tuned = run({"tune", open, "-o", plan_, "--budget", "4s", "--store", "memory:", "--shape", "rows=1..4",
                           "--backends", "onednn,onnxruntime"});
  ASSERT_EQ(tuned.exit_code, 0) << describe(tuned);
  expect_error(run({"recheck", plan_}), 4, "recheck/many-shapes", "rows=1..4");
  // Piped progress names a point once and then counts.
  std::size_t named = 0;
  for (std::size_t at = tuned.err.find(": rows="); at != std::string::npos; at = tuned.err.find(": rows=", at + 1))
    ++named;
  EXPECT_GT(named, 0U);
  EXPECT_THAT(tuned.err, Not(HasSubstr("price: rows=")));
  EXPECT_THAT(tuned.err, HasSubstr("\nprice "));
}

}  // namespace
}  // namespace collage::testing
