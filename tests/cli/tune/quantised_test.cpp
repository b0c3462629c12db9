// Networks of 8-bit layers, whose outputs no two engines give alike: rounding inside of them decides.
#include "tests/cli/cli_fixture.h"
#include "tests/onnx/model_text.h"
#include "tests/support/dice.h"

namespace collage::testing {
namespace {

constexpr int kWidth = 64;

std::string weights_of(int layer) {
  Dice dice(static_cast<std::uint64_t>(layer) + 1);
  std::string numbers;
  for (int i = 0; i < kWidth * kWidth; ++i)
    numbers += (i == 0 ? "" : ", ") + std::to_string(static_cast<int>(dice.below(255)) - 127);
  return numbers;
}

/// `layers` products of 8-bit numbers, each rounded to 8 bits again.
std::string quantised_network(int layers) {
  std::string constants = "float s = {0.05}, uint8 z = {128}, float ws = {0.003}, int8 wz = {0}";
  std::string nodes = "q0 = QuantizeLinear (x, s, z)\n";
  for (int layer = 0; layer < layers; ++layer) {
    const std::string n = std::to_string(layer);
    const std::string next = std::to_string(layer + 1);
    constants += ", int8[64,64] w" + n + " = {" + weights_of(layer) + "}";
    nodes += "a" + n + " = DequantizeLinear (q" + n + ", s, z)\n" + "b" + n + " = DequantizeLinear (w" + n +
             ", ws, wz)\n" + "c" + n + " = MatMul (a" + n + ", b" + n + ")\n" + "q" + next + " = QuantizeLinear (c" +
             n + ", s, z)\n";
  }
  nodes += "y = DequantizeLinear (q" + std::to_string(layers) + ", s, z)\n";
  return opset_model(17, "quantised (float[16,64] x) => (float[16,64] y) <" + constants + "> {\n" + nodes + "}");
}

class QuantisedTest : public CliTest {};

TEST_F(QuantisedTest, NetworkIsTunedAndVerified) {
  const std::string plan = file("model.collage");
  expect_good(run(quick_tune(given("model.onnx", quantised_network(12)), plan)));
  expect_good(run({"verify", plan, "--seeds", "5"}));
  const nlohmann::json bench = parsed(run({"bench", plan, "--seconds", "0.1", "--json", "-"}).out);
  for (const nlohmann::json& contender : bench["contenders"])
    EXPECT_EQ(contender["numbers"]["verdict"], "right") << contender;
}

}  // namespace
}  // namespace collage::testing
