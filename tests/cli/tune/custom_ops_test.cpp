// Operators of a library that the user names: import, tune, run, and what is said of libraries that are of no use.
#include <filesystem>

#include "onnx/files/tensor_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;

class CustomOpsTest : public CliTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(built("collage_custom_ops"))) GTEST_SKIP() << "ONNX Runtime is not built";
    std::filesystem::copy_file(built("collage_custom_ops"), library_);
  }

  static std::string built(const std::string& name) {
    return test::build_path("/tests/modules/custom_ops/lib" + name + ".so");
  }

  /// x -> Relu -> the operator, which adds 2.5 -> doubled.
  [[nodiscard]] std::string model(const std::string& op) const {
    return given("model.onnx", bytes_of(model_of(R"(<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
        g (float[6,16] x) => (float[6,16] y) {
          a = Relu (x)
          b = acme.)" + op + R"( <by = 2.5> (a)
          y = Add (b, b)
        })")));
  }

  [[nodiscard]] std::string plan() const { return file("model.collage"); }
  [[nodiscard]] Ended tuned(const std::string& op, const std::string& library,
                            const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"--custom-ops", library};
    words.insert(words.end(), more.begin(), more.end());
    return run(quick_tune(model(op), plan(), words));
  }

  /// Runs the plan or model on a ramp and compares with what the model says.
  void expect_right(const std::string& subject, const std::vector<std::string>& more = {}) const {
    const Tensor x = ramp({6, 16});
    ASSERT_TRUE(write_npy(file("x.npy"), x));
    std::vector<std::string> words = {"run", subject, "--input", "x=" + file("x.npy"), "--output-dir", file("out")};
    words.insert(words.end(), more.begin(), more.end());
    expect_good(run(words));
    const auto y = read_npy(file("out/output_0.npy"));
    ASSERT_TRUE(y) << to_string(y.error());
    const auto in = x.data.as<float>();
    const auto out = y->data.as<float>();
    ASSERT_EQ(in.size(), out.size());
    for (std::size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(out[i], 2 * (std::max(in[i], 0.0F) + 2.5F), 1e-5) << i;
  }

  std::string library_ = file("libacme.so");
};

TEST_F(CustomOpsTest, AreUnknownWithoutTheLibrary) {
  expect_error(run({"check", model("Shift")}), 4, "import/unknown-operator", "acme::Shift");
  expect_good(run({"check", model("Shift"), "--custom-ops", library_, "--quiet"}));
}

TEST_F(CustomOpsTest, ArePlacedMeasuredAndRun) {
  const Ended ended = tuned("Shift", library_, {"--cost-table", file("costs.json")});
  expect_good(ended);
  expect_right(plan());
  const std::string costs = read_all(file("costs.json"));
  EXPECT_THAT(costs, HasSubstr("Shift"));
  const auto explained = parsed(run({"explain", plan(), "--json", "-"}).out);
  EXPECT_THAT(explained.dump(), HasSubstr("onnxruntime"));
  const Ended verified = run({"verify", plan(), "--custom-ops", library_, "--quiet"});
  EXPECT_EQ(verified.exit_code, 0) << describe(verified);
}

TEST_F(CustomOpsTest, RunBesideBackendsThatDoNotKnowThem) {
  expect_good(tuned("Shift", library_, {"--backends", "onednn"}));
  expect_right(plan());
}

TEST_F(CustomOpsTest, RunInAModelThatWasNotTuned) { expect_right(model("Shift"), {"--custom-ops", library_}); }

TEST_F(CustomOpsTest, ComeFromTheVeryLibraryOfThePlan) {
  expect_good(tuned("Shift", library_));
  const std::string kept = file("kept.so");
  std::filesystem::rename(library_, kept);
  expect_error(run({"run", plan(), "--quiet"}), 6, "operators/missing", library_);
  expect_right(plan(), {"--custom-ops", kept});
  write_all(library_, read_all(kept) + "changed");
  expect_error(run({"run", plan(), "--quiet"}), 3, "operators/changed", library_);
}

TEST_F(CustomOpsTest, OfALibraryThatIsNoneAreRefusedWithTheReason) {
  expect_error(tuned("Shift", file("nowhere.so")), 2, "cli/bad-option", "nowhere.so");
  expect_error(tuned("Shift", given("text.so", "no library")), 4, "operators/failed", "text.so");
  expect_error(tuned("Shift", built("collage_custom_nothing")), 4, "operators/failed", "RegisterCustomOps");
  expect_error(tuned("Absent", library_), 4, "operators/failed", "Absent");
  EXPECT_FALSE(std::filesystem::exists(plan()));
}

TEST_F(CustomOpsTest, ThatCrashAreRefusedWithTheReason) {
  expect_error(tuned("Crash", library_), 4, "operators/failed", "SIGABRT");
  EXPECT_FALSE(std::filesystem::exists(plan()));
}

}  // namespace
}  // namespace collage::testing
