// Options that would do nothing beside another one are refused, with the reason.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

class IdleOptionTest : public CliTest {
 protected:
  IdleOptionTest() : model_(given("model.onnx", small_network())) {}
  [[nodiscard]] Ended tune(const std::vector<std::string>& more) const {
    return run(quick_tune(model_, file("p.collage"), more));
  }
  std::string model_;
};

TEST_F(IdleOptionTest, OfTune) {
  expect_error(tune({"--points", "3"}), 2, "cli/bad-option", "--points: saw no range in --shape");
  expect_error(tune({"--at", "N=3"}), 2, "cli/bad-option", "--at: saw no range in --shape");
  expect_error(tune({"--only", "onnxruntime", "--backends", "native"}), 2, "cli/bad-option", "--only onnxruntime");
  expect_error(tune({"--backends", "onnxruntime", "--ban", "*=native"}), 2, "tune/bad-rule", "takes no part");
  expect_error(tune({"--backends", "onnxruntime", "--pin", "*=native"}), 2, "tune/bad-rule", "takes no part");
  expect_error(tune({"--input-range", "imgae=0..1"}), 2, "input/unknown-name", "did you mean image?");
  for (const std::string option : {"--points", "--rules", "--memory-cap", "--memory-weight"})
    expect_error(run({"tune", model_, "-o", file("p.collage"), "--replay", file("old.collage"), option, "1"}), 2,
                 "cli/usage", option + " with --replay");
}

TEST_F(IdleOptionTest, OfCheck) {
  const std::string rules = given("my.rules", "ban onednn: Conv\n");
  expect_error(run({"check", model_, "--dump", "graph", "--rules", rules}), 2, "cli/bad-option", "--rules");
  expect_error(run({"check", model_, "--dump", "graph", "--accuracy", "fast"}), 2, "cli/bad-option", "--accuracy");
  expect_error(run({"check", model_, "--dump", "simplified", "--threads", "2"}), 2, "cli/bad-option", "--threads");
  expect_good(run({"check", model_, "--dump", "candidates", "--rules", rules, "--threads", "2"}));
}

TEST_F(IdleOptionTest, OfRun) {
  expect_error(run({"run", file("any.collage"), "--trust"}), 2, "cli/bad-option", "--trust: saw a plan");
}

TEST_F(IdleOptionTest, OfWorkload) {
  const auto write = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"workload"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const std::string output = file("w.onnx");
  expect_error(write({"mnist", "-o", output, "--layers", "3"}), 2, "workload/bad-size", "--layers");
  expect_error(write({"mnist", "-o", output, "--seq", "3"}), 2, "workload/bad-size", "--seq");
  expect_error(write({"mnist", "-o", output, "--dynamic-seq"}), 2, "workload/bad-size", "--dynamic-seq");
  expect_error(write({"bert_full", "-o", output, "--dynamic-seq", "--seq", "8"}), 2, "workload/bad-size", "--seq");
  expect_error(write({"mnist", "-o", output, "--dynamic", "--batch", "2"}), 2, "cli/usage", "--batch");
  expect_error(write({"--layers", "3"}), 2, "cli/bad-option", "--layers: saw no name");
  expect_error(write({"-o", output}), 2, "cli/bad-option", "--output: saw no name");
  EXPECT_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace collage::testing
