// Products of bytes on version 3 of the library: one operation from the dequantisers to the quantiser, which gives the
// sums' numbers to a step. More cases: tests/conformance/cases/quantised.txt.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/backends/onednn3/changed_artifacts.h"
#include "tests/support/dice.h"
#include "tests/support/variant_runner.h"

namespace collage::test {
namespace {

constexpr std::int64_t kDepth = 20, kRows = 6, kOutputs = 9;

template <class Byte>
std::vector<Byte> drawn(std::size_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<Byte> bytes(count);
  for (Byte& byte : bytes)
    byte = static_cast<Byte>(static_cast<int>(dice.below(127)) - (std::is_signed_v<Byte> ? 63 : 0));
  return bytes;
}

/// A product of u8 rows and i8 weights with a scale for each output, limited below by 0; `tail` is what follows.
Graph product_of(const std::string& tail, const std::string& result) {
  const std::string text =
      "graph(%x: u8[6,20], %w: i8[20,9]) -> (%y) { constant %s = f32[]{0.02} constant %z = u8[]{60} constant %t = "
      "f32[]{0.05} constant %u = u8[]{11} constant %ws = f32[9]{0.01,0.02,0.03,0.01,0.02,0.03,0.01,0.02,0.03} "
      "%a: f32[6,20] = DequantizeLinear(%x, %s, %z) %b: f32[20,9] = DequantizeLinear(%w, %ws) {axis=1} "
      "%c: f32[6,9] = MatMul(%a, %b) " +
      tail + " } ";
  auto parsed = parse_graph(text);
  COLLAGE_CHECK(parsed.has_value(), parsed ? "" : to_string(parsed.error()));
  Graph graph = *std::move(parsed);
  graph.opsets[""] = 26;
  COLLAGE_CHECK(name_of(graph.value(graph.outputs[0]).type.element) == result, "a result of another type");
  graph.value(graph.inputs[1]).constant =
      make_tensor(ElementType::kInt8, {kDepth, kOutputs}, drawn<std::int8_t>(kDepth * kOutputs, 5));
  graph.inputs.resize(1);
  return graph;
}

/// Real numbers of the sums, at least 0.
std::vector<double> limited_sums(const std::vector<std::uint8_t>& x) {
  const std::vector<std::int8_t> w = drawn<std::int8_t>(kDepth * kOutputs, 5);
  std::vector<double> sums;
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t c = 0; c < kOutputs; ++c) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < kDepth; ++k)
        sum += (x[static_cast<std::size_t>(row * kDepth + k)] - 60) * w[static_cast<std::size_t>(k * kOutputs + c)];
      sums.push_back(std::max(0.0, static_cast<double>(sum) * 0.02 * 0.01 * static_cast<double>(c % 3 + 1)));
    }
  return sums;
}

const std::string kRounded = "%d: f32[6,9] = Relu(%c) %y: u8[6,9] = QuantizeLinear(%d, %t, %u)";

TEST(OneDnn3Bytes, AreOneOperationFromDequantisersToTheQuantiser) {
  const Graph graph = product_of(kRounded, "u8");
  const std::vector<std::uint8_t> x = drawn<std::uint8_t>(kRows * kDepth, 3);
  const VariantRunner runner("onednn3", graph, {make_tensor(ElementType::kUint8, {kRows, kDepth}, x)});
  const std::vector<double> sums = limited_sums(x);
  const std::vector<VariantRun> runs = runner.run_all();
  EXPECT_FALSE(runs.empty());
  for (const VariantRun& run : runs) {
    SCOPED_TRACE(run.variant.name);
    ASSERT_EQ(run.outputs.size(), 1U);
    const auto y = run.outputs[0].data.as<std::uint8_t>();
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_NEAR(static_cast<double>(y[i]), std::clamp(std::nearbyint(sums[i] / 0.05) + 11, 0.0, 255.0), 1.0) << i;
    // A product and nothing after it; the weights are the only constant.
    EXPECT_EQ(run.artifact.bytes.find("eltwise\",\"output"), std::string::npos);
    EXPECT_EQ(run.artifact.constants.size(), 1U);
  }
}

TEST(OneDnn3Bytes, MayGiveRealNumbers) {
  const Graph graph = product_of("%y: f32[6,9] = Relu(%c)", "f32");
  const std::vector<std::uint8_t> x = drawn<std::uint8_t>(kRows * kDepth, 3);
  const VariantRunner runner("onednn3", graph, {make_tensor(ElementType::kUint8, {kRows, kDepth}, x)});
  const std::vector<double> sums = limited_sums(x);
  for (const VariantRun& run : runner.run_all()) {
    SCOPED_TRACE(run.variant.name);
    ASSERT_EQ(run.outputs.size(), 1U);
    const auto y = run.outputs[0].data.as<float>();
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(static_cast<double>(y[i]), sums[i], 1e-5) << i;
  }
}

TEST(OneDnn3Bytes, AreNoOperatorsOfVersionTwo) {
  if (!is_usable("onednn")) GTEST_SKIP() << "no onednn here";
  const Graph graph = product_of(kRounded, "u8");
  const auto offered = compiling("onednn").support(graph, region_of(graph), {});
  ASSERT_FALSE(offered);
  EXPECT_EQ(offered.error().detail, "products of bytes");
}

TEST(OneDnn3Bytes, ThatAreDamagedAreRefused) {
  const Graph graph = product_of(kRounded, "u8");
  const VariantRunner runner(
      "onednn3", graph, {make_tensor(ElementType::kUint8, {kRows, kDepth}, drawn<std::uint8_t>(kRows * kDepth, 3))});
  const Variant variant = runner.offered()->at(0);
  const auto whole = runner.compile(variant);
  ASSERT_TRUE(whole);
  const std::vector<std::pair<std::string, std::string>> changes = {{"\"numbers\":[", "\"numbers\":[1.0,"},
                                                                    {"\"scaling\":[", "\"scaling\":[99,"},
                                                                    {"\"scaling\":[", "\"scaling\":[0,"},
                                                                    {"\"type\":\"i8\"", "\"type\":\"i32\""},
                                                                    {"\"kind\":\"matmul\"", "\"kind\":\"eltwise\""},
                                                                    {"\"extents\":[20,9]", "\"extents\":[]"}};
  expect_refused_when_changed(graph, variant, *whole, changes);
  // Scales of weights, of an operation that has none.
  Artifact one_input = *whole;
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = one_input.bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << one_input.bytes;
    one_input.bytes.replace(at, from.size(), to);
  };
  replace("\"kind\":\"matmul\"", "\"kind\":\"reorder\"");
  replace("\"inputs\":[0,1]", "\"inputs\":[0]");
  const auto kernel = loading("onednn3").load(request_of(graph, variant, one_input));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, "backend/bad-artifact");
}

}  // namespace
}  // namespace collage::test
