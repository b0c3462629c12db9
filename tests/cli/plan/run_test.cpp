// What `run` tells of its inputs, outputs, time and files, and the arrays it takes.
#include <cmath>
#include <limits>

#include "onnx/files/tensor_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RunTest : public CliTest {
 protected:
  /// NAME=FILE for an array of floats.
  [[nodiscard]] std::string array(const std::string& name, const Extents& extents,
                                  const std::vector<float>& values) const {
    const std::string path = file(name + ".npy");
    EXPECT_TRUE(write_npy(path, make_tensor(ElementType::kFloat32, extents, values)));
    return name + "=" + path;
  }
};

TEST_F(RunTest, TellsNumbersTimeAndFiles) {
  const std::string model = given("model.onnx", doubling());
  const std::string x = array("x", {2, 3}, {-3, 0, 1, 2, 4.5, 6});
  const Ended text = run({"run", model, "--input", x, "--output-dir", file("out")});
  expect_good(text);
  EXPECT_THAT(text.out, AllOf(HasSubstr("y: f32[2,3]\n  min -6  mean 3.5  max 12\n  -6 0 2 4 9 12\n"),
                              HasSubstr("one run, the first: "), HasSubstr(" ms with 1 thread;"),
                              HasSubstr("wrote " + file("out/output_0.npy")), Not(HasSubstr("made up"))));
  const Ended ended = run({"run", model, "--input", x, "--output-dir", file("out"), "--json", "-"});
  expect_good(ended);
  const nlohmann::json json = parsed(ended.out);
  EXPECT_EQ(json["schema"], "collage.run/1");
  const nlohmann::json& output = json["outputs"][0];
  EXPECT_EQ(output["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(output["min"], -6);
  EXPECT_EQ(output["mean"], 3.5);
  EXPECT_EQ(output["max"], 12);
  EXPECT_EQ(output["not_finite"], 0);
  EXPECT_EQ(output["first"][4], "9");
  EXPECT_EQ(json["inputs"][0]["given"], file("x.npy"));
  EXPECT_EQ(json["inputs"][0]["made_up"], false);
  EXPECT_GT(json["run_us"], 0);
  EXPECT_THAT(json["files"].get<std::vector<std::string>>(),
              ElementsAre(file("out/input_0.npy"), file("out/output_0.npy"), file("out/index.json")));
  for (const auto& path : json["files"]) EXPECT_TRUE(std::filesystem::exists(path.get<std::string>()));
}

TEST_F(RunTest, CountsNumbersThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::string model = given("model.onnx", doubling());
  const std::string x = array("x", {2, 3}, {1, infinity, std::nanf(""), 2, -infinity, 3});
  EXPECT_THAT(run({"run", model, "--input", x}).out, HasSubstr("min 2  mean 4  max 6  NOT FINITE: 3\n  2 inf nan"));
  const Ended none = run({"run", model, "--input", array("x", {2, 3}, std::vector<float>(6, infinity)), "--json", "-"});
  expect_good(none);
  EXPECT_EQ(parsed(none.out)["outputs"][0]["not_finite"], 6);
  EXPECT_TRUE(parsed(none.out)["outputs"][0]["min"].is_null());
}

TEST_F(RunTest, SaysWhichInputsItMadeUp) {
  const std::string model = given("model.onnx", sum_with_open_dimension());
  const std::string a = array("a", {2, 4}, std::vector<float>(8, 1));
  const Ended ended = run({"run", model, "--input", a, "--seed", "7"});
  expect_good(ended);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("b: f32[2,4], made up, seed 7\n"), Not(HasSubstr("a: f32[2,4], made up"))));
  expect_error(run({"run", model, "--input", a, "--strict-inputs"}), 3, "input/missing", "--input b=FILE.npy");
  const std::string b = array("b", {2, 4}, std::vector<float>(8, 2));
  expect_good(run({"run", model, "--input", a, "--input", b, "--strict-inputs"}));
}

TEST_F(RunTest, TakesOpenDimensionsFromTheArrays) {
  const std::string model = given("model.onnx", sum_with_open_dimension());
  const std::string a = array("a", {3, 4}, std::vector<float>(12, 1));
  EXPECT_THAT(run({"run", model, "--input", a}).out, HasSubstr("y: f32[3,4]"));
  expect_good(run({"run", model, "--input", a, "--shape", "N=3"}));
  expect_error(run({"run", model, "--input", a, "--shape", "N=2"}), 3, "import/shape-mismatch", "dimension N");
  expect_error(run({"run", model, "--input", a, "--shape", "a=2x4"}), 3, "input/wrong-shape", "f32[3,4]");
  expect_error(run({"run", model, "--input", array("a", {3, 5}, std::vector<float>(15, 1))}), 3,
               "import/shape-mismatch", "a[N,4]");
  expect_error(run({"run", model, "--input", array("c", {3, 4}, std::vector<float>(12, 1)), "--shape", "N=3"}), 2,
               "input/unknown-name", "a, b");
  expect_error(run({"run", model}), 3, "import/unbound-dimension", "a[N,4]");
  expect_error(run({"run", model, "--input", "a=" + file("none.npy")}), 6, "tensor/not-found", "none.npy");
  const std::string unnamed = given("unnamed.onnx", doubling_with_unnamed_dimension());
  EXPECT_THAT(run({"run", unnamed, "--input", array("x", {5, 4}, std::vector<float>(20, 1))}).out,
              HasSubstr("y: f32[5,4]"));
}

TEST_F(RunTest, RefusesASecondWordAboutAnInput) {
  const std::string model = given("model.onnx", doubling());
  const std::string x = array("x", {2, 3}, std::vector<float>(6, 1));
  expect_error(run({"run", model, "--input", x, "--input", x}), 2, "cli/bad-option", "a second file");
  expect_error(run({"run", model, "--input", x, "--input-range", "x=0..1"}), 2, "input/bad-range", "a file");
  expect_error(run({"run", model, "--input-range", "x=0..1", "--input-range", "x=0..2"}), 2, "cli/bad-option",
               "x=0..2");
  expect_error(run({"run", model, "--input-range", "xx=0..1"}), 2, "input/unknown-name", "did you mean x?");
}

}  // namespace
}  // namespace collage::testing
