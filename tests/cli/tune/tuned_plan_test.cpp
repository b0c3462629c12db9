// tune, and what can be done with its plan.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <onnx/onnx_pb.h>

#include "onnx/files/tensor_file.h"
#include "plan/file/zip.h"
#include "tests/cli/changed_plan.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/long_run.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;

class TunedPlanTest : public CliTest {
 protected:
  TunedPlanTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {
    EXPECT_TRUE(write_npy(file("image.npy"), ramp({1, 3, 8, 8})));
  }

  /// Tunes into plan_ and gives the report.
  nlohmann::json tune(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--json", "-"});
    const Ended ended = tuned_once(model_, plan_, more);
    expect_good(ended);
    EXPECT_THAT(temporaries(), IsEmpty());
    return parsed(ended.out);
  }

  /// What a plan or model gives for image.npy.
  std::vector<double> scores(const std::string& subject, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run",          subject,    "--input", "image=" + file("image.npy"),
                                          "--output-dir", file("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_good(run(arguments));
    const auto output = read_npy(file("out/output_0.npy"));
    EXPECT_TRUE(output);
    return output ? floats_of(*output).value() : std::vector<double>();
  }

  void expect_model_scores(const std::vector<double>& seen) const {
    const std::vector<double> expected = scores(model_);
    ASSERT_EQ(seen.size(), 5U);
    ASSERT_EQ(expected.size(), 5U);
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(seen[i], expected[i], 1e-5) << i;
      sum += expected[i];
    }
    EXPECT_NEAR(sum, 1, 1e-5) << "a softmax";
  }

  std::string model_;
  std::string plan_;
};

TEST_F(TunedPlanTest, ReportsWhatItDidAndDoesNotMeasureTwice) {
  // Enough time for all candidates: what a short budget leaves out, the next tune measures.
  const std::vector<std::string> arguments = {"tune",     model_, "-o",      plan_,
                                              "--budget", "20s",  "--store", "sqlite:" + file("costs.sqlite")};
  std::vector<std::string> first_arguments = arguments;
  first_arguments.insert(first_arguments.end(), {"--json", file("tune.json"), "--events", file("events")});
  const Ended first = run(first_arguments);
  ASSERT_EQ(first.exit_code, 0) << describe(first);
  EXPECT_THAT(first.out, HasSubstr("model.collage"));
  EXPECT_THAT(first.err, HasSubstr("price")) << "progress";
  const nlohmann::json report = parsed(read_all(file("tune.json")));
  EXPECT_EQ(report["schema"], "collage.tune/1");
  EXPECT_THAT(keys_of(report), IsSupersetOf({"plan", "model", "threads", "tune_s", "candidates", "measured", "reused",
                                             "refused", "cover_us", "model_bound_us", "proven_bound_us", "predicted_us",
                                             "measured_us", "steps", "backends", "rivals", "shipped"}));
  EXPECT_EQ(report["plan"], plan_);
  EXPECT_EQ(report["model"], model_);
  EXPECT_EQ(report["threads"], 1);
  EXPECT_GT(report["measured"], 0);
  EXPECT_EQ(report["reused"], 0);
  EXPECT_GT(report["measured_us"], 0);
  std::size_t steps = 0;
  for (const auto& [name, count] : report["backends"].items()) steps += count.get<std::size_t>();
  EXPECT_EQ(report["steps"], steps);
  std::istringstream events(read_all(file("events")));
  for (std::string line; std::getline(events, line);) EXPECT_EQ(parsed(line)["schema"], "collage.event/1");

  std::vector<std::string> again = arguments;
  again.insert(again.end(), {"--quiet", "--json", "-"});
  const Ended second = run(again);
  expect_good(second);
  const nlohmann::json repeated = parsed(second.out);
  EXPECT_EQ(repeated["measured"], 0);
  EXPECT_GT(repeated["reused"], 0);
  EXPECT_EQ(repeated["shipped"], report["shipped"]);
  EXPECT_EQ(repeated["backends"], report["backends"]);
  const std::string second_plan = read_all(plan_);
  expect_good(run(again));
  EXPECT_TRUE(read_all(plan_) == second_plan) << "two processes made different plans of the same costs";
  EXPECT_THAT(names(), ElementsAre("costs.sqlite", "costs.sqlite-tuners", "costs.sqlite.files", "events", "image.npy",
                                   "model.collage", "model.onnx", "tune.json"));
  EXPECT_THAT(temporaries(), IsEmpty());
}

TEST_F(TunedPlanTest, DumpsTheBestCover) {
  const Ended ended = run(quick_tune(model_, plan_, {"--dump", "cover", "--json", file("tune.json")}));
  expect_good(ended);
  const nlohmann::json report = parsed(read_all(file("tune.json")));
  EXPECT_EQ(report["schema"], "collage.tune/1");
  EXPECT_EQ(report["cover"], ended.out);
  const long long cost_ns = std::llround(report["cover_us"].get<double>() * 1000);
  EXPECT_THAT(ended.out, ::testing::EndsWith("\ncost " + std::to_string(cost_ns) + " ns\n"));
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_THAT(line.substr(0, line.find(' ')), ::testing::AnyOf("kernel", "convert", "view", "cost")) << line;
  EXPECT_THAT(ended.out, HasSubstr("Conv")) << "names of nodes";
  EXPECT_FALSE(tune().contains("cover"));
}

TEST_F(TunedPlanTest, RunsVerifiesAndBenches) {
  tune();
  expect_model_scores(scores(plan_));
  expect_good(run({"run", plan_, "--profile", file("profile.json")}));
  const nlohmann::json profile = parsed(read_all(file("profile.json")));
  ASSERT_GT(profile["steps"].size(), 0U);
  EXPECT_THAT(keys_of(profile["steps"][0]), IsSupersetOf({"backend", "us"}));

  const Ended verified = run({"verify", plan_, "--seeds", "3", "--json", "-"});
  expect_good(verified);
  const nlohmann::json verdict = parsed(verified.out);
  EXPECT_EQ(verdict["ok"], true);
  EXPECT_EQ(verdict["seeds"], 3);
  EXPECT_THAT(keys_of(verdict["outputs"][0]), IsSupersetOf({"name", "max_abs", "max_rel", "ok"}));

  const Ended explained = run({"explain", plan_, "--json", "-"});
  expect_good(explained);
  const nlohmann::json story = parsed(explained.out);
  ASSERT_GT(story["steps"].size(), 0U);
  EXPECT_THAT(keys_of(story), IsSupersetOf({"model", "shipped", "search", "rivals", "steps", "refusals"}));
  expect_error(run({"explain", plan_, "--node", "nobody"}), 2, "plan/no-such-node", "nobody");

  const Ended benched = run({"bench", plan_, "--seconds", "0.1", "--json", "-"});
  expect_good(benched);
  const nlohmann::json times = parsed(benched.out);
  EXPECT_THAT(keys_of(times), IsSupersetOf({"model", "threads", "contenders", "ratios"}));
  ASSERT_EQ(times["contenders"].size(), 3U);
  for (const auto& contender : times["contenders"])
    EXPECT_THAT(keys_of(contender), IsSupersetOf({"name", "version", "median_us", "p90_us", "samples"}));
  for (const auto& ratio : times["ratios"])
    EXPECT_THAT(keys_of(ratio), IsSupersetOf({"against", "ratio", "low", "high"}));
}

/// Slices of a run lie in it, one after the other; views have none.
TEST_F(TunedPlanTest, TracesItsRuns) {
  tune();
  expect_good(run({"run", plan_, "--trace", file("trace.json")}));
  const nlohmann::json trace = parsed(read_all(file("trace.json")));
  const nlohmann::json story = parsed(run({"explain", plan_, "--json", "-"}).out);
  std::size_t launched = 0;
  for (const auto& step : story["steps"]) launched += step["kind"] != "view";
  double run_end = 0;
  double last_end = 0;
  std::map<std::string, std::size_t> slices;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    if (event["ph"] == "C") {
      EXPECT_EQ(event["name"], "threads at work");
      EXPECT_LE(event["args"]["threads"].get<double>(), 1) << "a plan of one thread";
      continue;
    }
    ASSERT_EQ(event["ph"], "X") << event;
    const double begin = event["ts"];
    const double end = begin + event["dur"].get<double>();
    const bool is_run = event["cat"] == "run";
    if (!is_run) {
      EXPECT_EQ(event["args"]["counters"].size() + trace["otherData"]["not_counted"].size(), 6U) << event;
    }
    ++slices[is_run ? "run" : "step"];
    EXPECT_GE(begin, (is_run ? run_end : last_end) - 1e-3) << event;
    if (is_run)
      run_end = end;
    else
      EXPECT_LE(end, run_end + 1e-3) << event;
    last_end = is_run ? begin : end;
  }
  EXPECT_EQ(slices["run"], 20U);
  EXPECT_EQ(slices["step"], 20 * launched);
}

TEST_F(TunedPlanTest, RunsWhereverItIsMoved) {
  tune();
  std::filesystem::create_directory(file("elsewhere"));
  const std::string moved = file("elsewhere/other name.collage");
  std::filesystem::rename(plan_, moved);
  expect_model_scores(scores(moved));
  std::filesystem::copy_file(moved, file("elsewhere/named.onnx"));
  expect_model_scores(scores(file("elsewhere/named.onnx")));
  // Without the model plan.onnx stands in, which is said.
  const std::string model_moved = file("elsewhere/model.onnx");
  std::filesystem::rename(model_, model_moved);
  const Ended without = run({"verify", moved});
  expect_good(without);
  EXPECT_THAT(without.out, HasSubstr("plan.onnx"));
  const Ended with = run({"verify", moved, "--model", model_moved});
  expect_good(with);
  EXPECT_THAT(with.out, Not(HasSubstr("plan.onnx")));
  expect_error(run({"verify", moved, "--model", given("other.onnx", doubling())}), 3, "plan/other-model", "other.onnx");
}

TEST_F(TunedPlanTest, HoldsAnOnnxModelThatAnyRuntimeRuns) {
  tune();
  const Result<Buffer> whole = Buffer::map_file(plan_);
  ASSERT_TRUE(whole);
  const auto members = read_zip(*whole, plan_);
  ASSERT_TRUE(members);
  std::filesystem::create_directory(file("unpacked"));
  for (const ZipMember& member : *members)
    if (member.name == "plan.onnx" || member.name == "weights.bin")
      write_all(file("unpacked/" + member.name), std::string(member.data.text()));
  expect_model_scores(scores(file("unpacked/plan.onnx")));

  ::onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(read_all(file("unpacked/plan.onnx"))));
  ASSERT_GT(model.graph().node_size(), 0);
  EXPECT_EQ(model.graph().input(0).name(), "image");
  EXPECT_EQ(model.graph().output(0).name(), "scores");
  bool has_external = false;
  for (const auto& weights : model.graph().initializer())
    has_external = has_external || weights.data_location() == ::onnx::TensorProto::EXTERNAL;
  EXPECT_TRUE(has_external) << "the test's model has weights that are large enough";
  for (const auto& node : model.graph().node()) {
    std::map<std::string, std::string> metadata;
    for (const auto& entry : node.metadata_props()) metadata[entry.key()] = entry.value();
    EXPECT_THAT(metadata, AllOf(Contains(Key("collage.step")), Contains(Key("collage.backend")),
                                Contains(Key("collage.cost_us")), Contains(Key("collage.runner_up"))))
        << node.name();
  }
}

TEST_F(TunedPlanTest, UsesOnlyWhatTheUserAllows) {
  const nlohmann::json only_runtime = tune({"--only", "onnxruntime"});
  EXPECT_THAT(keys_of(only_runtime["backends"]), ElementsAre("onnxruntime"));
  expect_model_scores(scores(plan_));
  const nlohmann::json only_onednn = tune({"--only", "onednn"});
  EXPECT_THAT(keys_of(only_onednn["backends"]), Contains("onednn"));
  EXPECT_THAT(keys_of(only_onednn["backends"]), Not(Contains("openvino")));
  expect_model_scores(scores(plan_));
  const nlohmann::json two = tune({"--backends", "openvino,onnxruntime"});
  EXPECT_THAT(keys_of(two["backends"]), Not(Contains("onednn")));
  expect_model_scores(scores(plan_));
}

TEST_F(TunedPlanTest, KeepsBannedBackendsAwayAndPinnedNodesInPlace) {
  const nlohmann::json banned = tune({"--ban", "*=onednn", "--ban", "*=native", "--ban", "*=openvino"});
  EXPECT_THAT(keys_of(banned["backends"]), ::testing::IsSubsetOf({"host", "onnxruntime"}));
  expect_model_scores(scores(plan_));
  const nlohmann::json pinned = tune({"--pin", "*=onnxruntime"});
  EXPECT_THAT(keys_of(pinned["backends"]), ElementsAre("onnxruntime"));
  expect_model_scores(scores(plan_));
}

TEST_F(TunedPlanTest, KeepsWithinACapOfMemory) {
  const auto needed = tune({"--backends", "onednn"})["memory_bytes"].get<std::int64_t>();
  EXPECT_GT(needed, 0);
  // Kernels that are equally fast need a little more or less, and each tune measures anew.
  const std::int64_t cap = needed * 11 / 10;
  EXPECT_LE(tune({"--backends", "onednn", "--memory-cap", std::to_string(cap)})["memory_bytes"], cap);
  expect_model_scores(scores(plan_));
}

TEST_F(TunedPlanTest, CapOfMemoryForcesASlowerCoverThatFits) {
  if (!test::by_length(false, true)) GTEST_SKIP() << "half a minute: ./dev soak cap";
  // Its 3x3 convolutions are fastest with scratch that is larger than all values of the model.
  const char* folder = std::getenv("COLLAGE_MODELS");
  const std::string model = folder ? folder + std::string("/classification/resnet_stem_block_sum.onnx") : "";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "no models here";
  const auto tuned = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"tune",       model,    "-o",      plan_,
                                          "--backends", "onednn", "--shape", "gpu_0/data_0=1x3x224x224",
                                          "--budget",   "120s",   "--store", "sqlite:" + file("costs.sqlite"),
                                          "--quiet",    "--json", "-",       "--measure-all",
                                          "--dump",     "cover"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run(arguments);
    expect_good(ended);
    return parsed(ended.out);
  };
  const nlohmann::json free = tuned({});
  const auto cap = free["memory_bytes"].get<std::int64_t>() * 9 / 10;
  const nlohmann::json capped = tuned({"--memory-cap", std::to_string(cap)});
  EXPECT_LE(capped["memory_bytes"], cap);
  EXPECT_GT(capped["memory_bytes"], 0);
  EXPECT_LT(capped["measured"], 20) << "the costs are the same; conversions that no cover wanted before may be new";
  EXPECT_NE(capped["cover"], free["cover"]);
  EXPECT_GE(capped["cover_us"], free["cover_us"]);
  expect_good(run({"verify", plan_}));
  expect_error(run({"tune", model, "-o", plan_, "--backends", "onednn", "--shape", "gpu_0/data_0=1x3x224x224",
                    "--budget", "1s", "--store", "sqlite:" + file("costs.sqlite"), "--quiet", "--memory-cap", "1000"}),
               5, "search/no-cover", "memory");
}

TEST_F(TunedPlanTest, HonoursThreads) {
  EXPECT_EQ(tune({"--threads", "2"})["threads"], 2);
  expect_model_scores(scores(plan_));
  const Ended benched = run({"bench", plan_, "--seconds", "0.05", "--json", "-"});
  expect_good(benched);
  EXPECT_EQ(parsed(benched.out)["threads"], 2);
}

TEST_F(TunedPlanTest, IsFoundByVerifyWhenItsNumbersAreWrong) {
  tune({"--backends", "onednn"});  // its kernels read weights.bin; an engine has the weights inside its artifact
  const Ended ended = run({"verify", with_other_weights(plan_, file("changed.collage"))});
  EXPECT_EQ(ended.exit_code, 1) << describe(ended);
  EXPECT_THAT(ended.out, HasSubstr("DIFFERENT"));
}

}  // namespace
}  // namespace collage::testing
