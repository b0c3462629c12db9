// How much a model may ask for, in every command that reads one.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;

class LimitsTest : public CliTest {};

TEST_F(LimitsTest, HoldInEveryCommandThatReadsAModel) {
  const std::string model = given("model.onnx", chain(4));
  const std::string plan = file("model.collage");
  expect_good(tuned_once(model, plan, {"--only", "onnxruntime"}));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", model}, std::vector<std::string>{"run", model},
        quick_tune(model, file("again.collage")), std::vector<std::string>{"bench", plan, "--model", model},
        std::vector<std::string>{"bench", model}, std::vector<std::string>{"verify", plan, "--model", model}}) {
    SCOPED_TRACE(command.front());
    std::vector<std::string> limited = command;
    limited.insert(limited.end(), {"--limit", "nodes=3"});
    const Ended ended = run(limited);
    expect_error(ended, 5, "import/limit", model);
    EXPECT_THAT(ended.err, HasSubstr("--limit nodes=N"));
    limited.back() = "nodes=three";
    expect_error(run(limited), 2, "cli/bad-option", "nodes=three");
  }
  const Ended rechecked = run({"recheck", plan, "--force", "--model", model, "--limit", "nodes=3"});
  EXPECT_THAT(rechecked.out, HasSubstr("import/limit"));
}

TEST_F(LimitsTest, APlanIsNoModel) {
  const std::string plan = file("model.collage");
  expect_good(tuned_once(given("model.onnx", chain(4)), plan, {"--only", "onnxruntime"}));
  expect_error(run({"run", plan, "--limit", "nodes=3"}), 2, "cli/bad-option", "--limit");
  expect_error(run({"explain", plan, "--limit", "nodes=3"}), 2, "cli/bad-option", "--limit");
}

}  // namespace
}  // namespace collage::testing
