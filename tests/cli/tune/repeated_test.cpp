// Cheap nodes that several steps compute, each for itself, through the commands.
#include "tests/cli/models.h"
#include "tests/cli/test_backends.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A block of a quantised network: its input's dequantiser is read by the first convolution and by the sum.
std::string quantised_block() {
  return opset_model(17, R"(block (uint8[1,4,6,6] x) => (uint8[1,4,6,6] y) <
      float s = {0.05}, uint8 z = {3}, int8[4,4,1,1] w = {1, -2, 3, 4, -5, 6, 7, -8, 9, -10, 11, 12, -13, 14, 15, 16},
      float ws = {0.02}, int8 wz = {0}> {
    shared = DequantizeLinear (x, s, z)
    weights = DequantizeLinear (w, ws, wz)
    convolved = Conv <kernel_shape = [1, 1]> (shared, weights)
    rounded = QuantizeLinear (convolved, s, z)
    branch = DequantizeLinear (rounded, s, z)
    sum = Add (shared, branch)
    y = QuantizeLinear (sum, s, z)
  })");
}

class RepeatedTest : public TestBackendsTest {
 protected:
  [[nodiscard]] nlohmann::json json_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    const Ended ended = run(arguments);
    expect_good(ended);
    return parsed(ended.out);
  }

  /// Nodes of each step that others compute as well.
  static std::vector<std::vector<std::string>> repeated_in(const nlohmann::json& explained) {
    std::vector<std::vector<std::string>> repeated;
    for (const nlohmann::json& step : explained["steps"])
      if (step.contains("repeated") && !step["repeated"].empty())
        repeated.push_back(step["repeated"].get<std::vector<std::string>>());
    return repeated;
  }
};

TEST_F(RepeatedTest, DequantiserOfAResidualBranchIsProposedToEachOfItsReaders) {
  const std::string model = given("block.onnx", quantised_block());
  const std::string candidates = run({"check", model, "--dump", "candidates", "--backends", "onnxruntime"}).out;
  EXPECT_THAT(candidates, ContainsRegex("onnxruntime/default: ~DequantizeLinear_0 [^|]*Conv"));
  EXPECT_THAT(candidates, ContainsRegex("onnxruntime/default: ~DequantizeLinear_0 [^|]*Add"));
}

/// The backend of the test takes long for a node alone and gives one value only, so that computing Relu for each of its
/// readers is the fastest plan.
TEST_F(RepeatedTest, ShipsWhereItPaysWithTheReferencesNumbers) {
  const std::string model = given("model.onnx", opset_model(17, R"(
      m (float[2,3] x) => (float[2,3] a, float[2,3] b)
      <float[2,3] v = {1, 2, 3, 4, 5, 6}, float[2,3] w = {6, 5, 4, 3, 2, 1}> {
        shared = Relu (x)
        a = Add (shared, v)
        b = Add (shared, w)
      })"));
  const std::string plan = file("p.collage");
  expect_good(run(quick_tune(model, plan, {"--only", "test:single_us=3000", "--measure-all", "--seed", "3"})));

  const nlohmann::json explained = json_of({"explain", plan});
  const std::string shared = explained["nodes"][0]["node"];
  EXPECT_THAT(repeated_in(explained), ElementsAre(ElementsAre(shared), ElementsAre(shared)));
  EXPECT_THAT(run({"explain", plan}).out, HasSubstr("~" + shared));
  expect_good(run({"verify", plan}));

  const std::string again = file("again.collage");
  expect_good(run({"tune", model, "--replay", plan, "-o", again, "--quiet", "--store", "memory:"}));
  EXPECT_EQ(json_of({"explain", again})["steps"], explained["steps"]);
}

}  // namespace
}  // namespace collage::testing
