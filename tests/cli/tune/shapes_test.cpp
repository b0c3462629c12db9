// A plan for many shapes, from tune to what can be done with it.
#include <algorithm>
#include <cmath>

#include "onnx/files/tensor_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShapesTest : public CliTest {
 protected:
  ShapesTest() : model_(given("model.onnx", matmul_with_open_rows())), plan_(file("model.collage")) {}

  [[nodiscard]] Ended tune(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"tune",       model_,     "-o",       plan_,     "--shape",
                                          "rows=1..16", "--budget", "6s",       "--quiet", "--store",
                                          "memory:",    "--at",     "rows=5:2", "--json",  "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// y for x of so many rows, from a plan or the model.
  [[nodiscard]] std::vector<double> result(const std::string& subject, std::int64_t rows,
                                           const std::vector<std::string>& more = {}) const {
    const std::string x = file("x.npy");
    EXPECT_TRUE(write_npy(x, ramp({rows, 32})));
    std::vector<std::string> arguments = {"run", subject, "--input", "x=" + x, "--output-dir", file("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_good(run(arguments));
    const auto output = read_npy(file("out/output_0.npy"));
    EXPECT_TRUE(output);
    if (!output) return {};
    EXPECT_EQ(output->extents, (Extents{rows, 24}));
    return floats_of(*output).value();
  }

  void expect_model_numbers(std::int64_t rows) const {
    SCOPED_TRACE("rows " + std::to_string(rows));
    const std::vector<double> seen = result(plan_, rows);
    const std::vector<double> expected = result(model_, rows, {"--shape", "rows=" + std::to_string(rows)});
    ASSERT_EQ(seen.size(), expected.size());
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    EXPECT_GT(largest, 0);
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_NEAR(seen[i], expected[i], 1e-5 * largest) << i;
  }

  std::string model_;
  std::string plan_;
};

TEST_F(ShapesTest, KernelsOfOneBackendMayBeTheGenericPlan) {
  const Ended tuned = tune({"--backends", "native", "--points", "2"});
  expect_good(tuned);
  const nlohmann::json report = parsed(tuned.out);
  EXPECT_TRUE(report["generic_times_us"].contains("native")) << report["notes"].dump(2);
  EXPECT_TRUE(report["generic_times_us"].contains("onnxruntime")) << "the filler";
  for (const std::int64_t n : {1, 13, 16}) expect_model_numbers(n);
}

TEST_F(ShapesTest, OnePlanRunsEveryShapeOfTheDomain) {
  const Ended tuned = tune();
  expect_good(tuned);
  EXPECT_THAT(temporaries(), IsEmpty());
  const nlohmann::json report = parsed(tuned.out);
  EXPECT_EQ(report["schema"], "collage.tune-shapes/1");
  EXPECT_EQ(report["domain"][0]["name"], "rows");
  EXPECT_NE(report["generic"], "");
  std::vector<int> rows;
  for (const auto& one : report["cases"]) rows.push_back(one["extents"]["rows"]);
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  // A point that was asked for, or of the ladder, is a case, or a note says that the generic plan is faster there.
  for (const int sampled : {5, 1, 2, 4, 8, 16})
    EXPECT_TRUE(std::ranges::find(rows, sampled) != rows.end() ||
                report["notes"].dump().find("at rows=" + std::to_string(sampled) + ":") != std::string::npos)
        << sampled;
  for (const auto& one : report["cases"]) {
    EXPECT_GT(one["case_us"], 0);
    EXPECT_GT(one["generic_us"], 0);
    EXPECT_EQ(one["tune"]["schema"], "collage.tune/1");
  }
  for (const std::int64_t n : {1, 5, 16, 3, 15}) expect_model_numbers(n);

  const Ended verified = run({"verify", plan_, "--json", "-"});
  expect_good(verified);
  const nlohmann::json verdict = parsed(verified.out);
  EXPECT_EQ(verdict["ok"], true);
  EXPECT_EQ(verdict["outputs"].size(), rows.size() + 2) << "two shapes more, which the generic plan serves";
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(verdict["outputs"][i]["shape"], "rows=" + std::to_string(rows[i]));
  const Ended one = run({"verify", plan_, "--shape", "rows=11"});
  expect_good(one);
  EXPECT_THAT(one.out, HasSubstr("rows=11"));

  const Ended explained = run({"explain", plan_, "--json", "-"});
  expect_good(explained);
  const nlohmann::json story = parsed(explained.out);
  EXPECT_EQ(story["schema"], "collage.explain-cases/1");
  EXPECT_EQ(story["cases"].size(), rows.size());
  EXPECT_EQ(story["generic"]["shipped"], report["generic"]);
  const std::string text = run({"explain", plan_}).out;
  EXPECT_THAT(text, HasSubstr("every other shape"));
  for (const int n : rows) EXPECT_THAT(text, HasSubstr("rows=" + std::to_string(n)));
  EXPECT_EQ(parsed(run({"explain", plan_, "--shape", "rows=16", "--json", "-"}).out)["schema"], "collage.explain/1");

  const Ended benched = run({"bench", plan_, "--seconds", "0.8", "--against", "onnxruntime", "--json", "-"});
  expect_good(benched);
  if (rows.size() > 1) {
    EXPECT_EQ(parsed(benched.out)["shapes"].size(), rows.size());
  }
  const Ended at = run({"bench", plan_, "--seconds", "0.1", "--shape", "rows=11", "--json", "-"});
  expect_good(at);
  EXPECT_EQ(parsed(at.out)["shape"], "rows=11");
  EXPECT_EQ(parsed(at.out)["contenders"].size(), 3U);

  // Without the model the graphs inside stand in, at cases and elsewhere.
  std::filesystem::rename(model_, file("elsewhere.onnx"));
  for (const char* shape : {"rows=16", "rows=11"}) {
    const Ended without = run({"verify", plan_, "--shape", shape});
    expect_good(without);
    EXPECT_THAT(without.out, HasSubstr("plan.onnx"));
  }

  expect_error(run({"run", plan_}), 3, "shape/unbound", "rows=1 to 16");
  expect_error(run({"run", plan_, "--shape", "rows=17"}), 3, "shape/outside", "rows=1..16");
  expect_error(run({"run", plan_, "--shape", "rows=1..4"}), 2, "shape/range", "1..4");
  expect_error(run({"run", plan_, "--shape", "columns=3"}), 2, "shape/unknown-dimension", "columns");
  EXPECT_TRUE(write_npy(file("x.npy"), ramp({3, 31})));
  expect_error(run({"run", plan_, "--input", "x=" + file("x.npy")}), 3, "input/wrong-shape", "f32[3,31]");
  EXPECT_TRUE(write_npy(file("x.npy"), ramp({3, 32})));
  expect_error(run({"run", plan_, "--input", "x=" + file("x.npy"), "--shape", "rows=4"}), 3, "input/wrong-shape",
               "rows=4");
  expect_error(run({"recheck", plan_}), 4, "recheck/many-shapes", "rows=1..16");
  expect_good(run({"run", plan_, "--shape", "rows=7"}));
  expect_good(run({"run", plan_, "--shape", "x=7x32"}));
  expect_error(run({"run", plan_, "--shape", "x=7x31"}), 3, "input/wrong-shape", "--shape x");
  expect_error(run({"run", plan_, "--shape", "row=7"}), 2, "shape/unknown-dimension", "did you mean rows?");
}

TEST_F(ShapesTest, AreRefusedWhenTheModelHasNoSuchDimension) {
  expect_error(run(quick_tune(model_, plan_, {"--shape", "row=1..4"})), 2, "shape/no-input", "did you mean rows?");
  const std::string fixed = given("fixed.onnx", doubling());
  expect_error(run(quick_tune(fixed, plan_, {"--shape", "rows=1..4"})), 2, "shape/no-input", "no open dimension");
  expect_error(run(quick_tune(model_, plan_, {"--shape", "columns=1..4"})), 2, "shape/no-input", "columns");
  expect_error(run(quick_tune(model_, plan_, {"--shape", "rows=1..4", "--at", "rows=5"})), 3, "shape/outside",
               "rows=5");
  expect_error(run(quick_tune(model_, plan_, {"--shape", "rows=1..4", "--at", "rows"})), 2, "shape/malformed", "--at");
  expect_error(run(quick_tune(model_, plan_, {"--shape", "rows=1..4", "--dump", "cover"})), 2, "cli/bad-option",
               "--dump");
  EXPECT_THAT(names(), ElementsAre("fixed.onnx", "model.onnx"));
}

}  // namespace
}  // namespace collage::testing
