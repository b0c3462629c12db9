// Commands that need no plan: backends, workload, check, and run on a bare model.
#include "onnx/files/tensor_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST_F(CliTest, BackendsSaysWhatIsHere) {
  const Ended text = run({"backends"});
  expect_good(text);
  EXPECT_THAT(text.out, HasSubstr("host"));
  const Ended ended = run({"backends", "--json", "-"});
  expect_good(ended);
  const nlohmann::json json = parsed(ended.out);
  EXPECT_EQ(json["schema"], "collage.backends/1");
  std::vector<std::string> usable;
  for (const auto& backend : json["backends"]) {
    EXPECT_THAT(keys_of(backend), IsSupersetOf({"name", "version", "usable", "reason", "devices"}));
    if (backend["usable"]) usable.push_back(backend["name"]);
    EXPECT_EQ(backend["usable"].get<bool>(), backend["reason"].get<std::string>().empty());
  }
  EXPECT_THAT(usable, IsSupersetOf({"host", "onnxruntime"}));
}

TEST_F(CliTest, BackendsShowsWhoIsBlockedAndLiftsIt) {
  ::setenv("COLLAGE_BACKEND_PATH", test::build_path("/tests/modules").c_str(), 1);
  const std::string model = given("model.onnx", small_network());
  const std::string store = file("costs.sqlite");
  const std::string bad = "test:fault=run-crash";
  expect_good(run({"tune", model, "-o", file("plan.collage"), "--backends", "onnxruntime," + bad, "--budget", "10s",
                   "--quiet", "--measure-all", "--store", store}));
  const auto strikes = [&] {
    const Ended ended = run({"backends", "--json", "-", "--store", store});
    expect_good(ended);
    return parsed(ended.out)["strikes"];
  };
  ASSERT_FALSE(strikes().empty());
  for (const auto& strike : strikes()) {
    EXPECT_EQ(strike["backend"], bad);
    EXPECT_EQ(strike["blocked"].get<bool>(), strike["count"].get<int>() >= 3);
    EXPECT_THAT(strike["last"].get<std::string>(), HasSubstr("SIGSEGV"));
  }
  EXPECT_THAT(run({"backends", "--store", store}).out, HasSubstr(bad));
  expect_error(run({"backends", "--lift", "onednnn", "--store", store}), 2, "cli/bad-option", "did you mean onednn?");
  expect_error(run({"backends", "--lift", "test/Rleu", "--store", store}), 2, "cli/bad-option", "did you mean Relu?");
  EXPECT_FALSE(strikes().empty());
  expect_good(run({"backends", "--lift", bad, "--store", store}));
  EXPECT_TRUE(strikes().empty());
  const Ended again = run({"backends", "--lift", bad, "--store", store});
  expect_good(again);
  EXPECT_THAT(again.out, HasSubstr("nothing to lift"));
  ::unsetenv("COLLAGE_BACKEND_PATH");
}

TEST_F(CliTest, WorkloadWritesAModelThatRuns) {
  const Ended list = run({"workload", "--json", "-"});
  expect_good(list);
  EXPECT_THAT(parsed(list.out)["names"].get<std::vector<std::string>>(), IsSupersetOf({"mnist", "resnet50"}));
  expect_good(run({"workload", "mnist", "-o", file("a.onnx")}));
  expect_good(run({"workload", "mnist", "-o", file("b.onnx"), "--json", file("b.json")}));
  EXPECT_EQ(read_all(file("a.onnx")), read_all(file("b.onnx"))) << "the same seed";
  EXPECT_EQ(parsed(read_all(file("b.json")))["bytes"], read_all(file("b.onnx")).size());
  expect_good(run({"workload", "mnist", "-o", file("b.onnx"), "--seed", "2"}));
  EXPECT_NE(read_all(file("a.onnx")), read_all(file("b.onnx"))) << "another seed";
  expect_good(run({"workload", "mnist", "-o", file("b.onnx"), "--dynamic"}));
  expect_error(run({"run", file("b.onnx")}), 3, "import/unbound-dimension", "batch");
  expect_good(run({"run", file("b.onnx"), "--shape", "batch=2"}));
  EXPECT_THAT(names(), ElementsAre("a.onnx", "b.json", "b.onnx"));
}

TEST_F(CliTest, CheckDescribesAModel) {
  const std::string model = given("model.onnx", small_network());
  const Ended ended = run({"check", model, "--json", "-"});
  expect_good(ended);
  const nlohmann::json json = parsed(ended.out);
  EXPECT_EQ(json["schema"], "collage.check/1");
  EXPECT_EQ(json["opset"], 17);
  EXPECT_EQ(json["inputs"][0]["name"], "image");
  EXPECT_EQ(json["outputs"][0]["type"], "f32[1,5]");
  EXPECT_EQ(json["operators"]["Conv"], 1);
  EXPECT_EQ(json["backends"]["onnxruntime"], json["nodes"]);
  for (const std::string stage : {"graph", "simplified", "candidates"}) {
    const Ended dumped = run({"check", model, "--dump", stage});
    expect_good(dumped);
    EXPECT_THAT(dumped.out, HasSubstr("Conv")) << stage;
  }
}

TEST_F(CliTest, RunWritesInputsAndOutputsAsArrays) {
  const std::string model = given("model.onnx", doubling());
  const Tensor x = ramp({2, 3});
  ASSERT_TRUE(write_npy(file("x.npy"), x));
  expect_good(run({"run", model, "--input", "x=" + file("x.npy"), "--output-dir", file("out")}));
  const nlohmann::json index = parsed(read_all(file("out/index.json")));
  EXPECT_EQ(index["schema"], "collage.arrays/1");
  EXPECT_EQ(index["inputs"].size(), 1U);
  EXPECT_EQ(index["outputs"].size(), 1U);
  const nlohmann::json& output = index["outputs"][0];
  EXPECT_EQ(output["name"], "y");
  EXPECT_EQ(output["type"], "f32");
  EXPECT_EQ(output["shape"], (std::vector<int>{2, 3}));
  const auto given_back = read_npy(file("out/" + index["inputs"][0]["file"].get<std::string>()));
  ASSERT_TRUE(given_back);
  EXPECT_EQ(*given_back, x);
  const auto y = read_npy(file("out/" + output["file"].get<std::string>()));
  ASSERT_TRUE(y);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(floats_of(*y).value()[i], 2 * floats_of(x).value()[i]);
}

TEST_F(CliTest, RunMakesTheSameInputsFromTheSameSeed) {
  const std::string model = given("model.onnx", doubling());
  const auto input_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run", model, "--output-dir", file("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_good(run(arguments));
    return read_all(file("out/input_0.npy"));
  };
  const std::string first = input_of({});
  EXPECT_EQ(input_of({"--seed", "1"}), first);
  EXPECT_NE(input_of({"--seed", "2"}), first);
  (void)input_of({"--input-range", "x=5..6"});
  const auto x = read_npy(file("out/input_0.npy"));
  ASSERT_TRUE(x);
  const std::vector<double> values = floats_of(*x).value();
  for (const double value : values) EXPECT_TRUE(value >= 5 && value <= 6) << value;
}

TEST_F(CliTest, BenchTakesABareModel) {
  const Ended ended = run({"bench", given("model.onnx", doubling()), "--seconds", "0.05", "--json", "-"});
  expect_good(ended);
  EXPECT_EQ(parsed(ended.out)["contenders"][0]["name"], "collage");
}

}  // namespace
}  // namespace collage::testing
