// A plan of one shape and one number of threads takes no option that says otherwise, in no command.
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

class FixedPlanTest : public CliTest {
 protected:
  FixedPlanTest() : plan_(file("plan.collage")) {
    const std::string model = given("model.onnx", doubling_with_open_dimension());
    expect_good(tuned_once(model, plan_, {"--only", "onnxruntime", "--shape", "N=2"}));
  }

  [[nodiscard]] Ended with(const std::string& command, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {command, plan_};
    if (command == "bench") arguments.insert(arguments.end(), {"--seconds", "0.05"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  std::string plan_;
};

TEST_F(FixedPlanTest, TakesItsOwnShapeAndNoOther) {
  for (const std::string command : {"run", "bench", "verify", "explain"}) {
    SCOPED_TRACE(command);
    for (const char* own : {"N=2", "x=2x4"}) EXPECT_EQ(with(command, {"--shape", own}).exit_code, 0) << own;
    expect_error(with(command, {"--shape", "N=3"}), 3, "shape/outside", "--shape N: saw 3; allowed 2");
    expect_error(with(command, {"--shape", "x=3x4"}), 3, "input/wrong-shape", "--shape x: saw f32[3,4]");
    expect_error(with(command, {"--shape", "nonsense=5"}), 2, "shape/unknown-dimension", "nonsense");
    expect_error(with(command, {"--shape", "NN=2"}), 2, "shape/unknown-dimension", "did you mean N?");
    expect_error(with(command, {"--shape", "N=1..4"}), 2, "shape/range", "1..4");
  }
}

TEST_F(FixedPlanTest, TakesItsOwnThreadsAndNoOthers) {
  const std::string says = "--threads: saw 2; allowed 1, for which the plan was tuned";
  for (const std::string command : {"run", "bench"}) {
    SCOPED_TRACE(command);
    EXPECT_EQ(with(command, {"--threads", "1"}).exit_code, 0);
    expect_error(with(command, {"--threads", "2"}), 2, "plan/other-threads", says);
  }
}

}  // namespace
}  // namespace collage::testing
