// Attentions by the graph interface of version 3: the numbers of plain loops, and what is none.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/backends/onednn3/changed_artifacts.h"
#include "tests/support/dice.h"
#include "tests/support/variant_runner.h"

namespace collage::test {
namespace {

constexpr std::int64_t kHeads = 3, kTokens = 10, kHeadDepth = 8;

std::vector<float> numbers_drawn(std::int64_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(dice.below(2000)) / 1000.F - 1.F;
  return numbers;
}

/// q, k, v as [1, rows, heads, depth]; the first two are turned inside of the region, v before it.
std::string attention(const std::string& mask = "%m: f32[1,1,1,10]", const std::string& turn = "[0,2,1,3]") {
  return "graph(%q: f32[1,10,3,8], %k: f32[1,10,3,8], %v: f32[1,3,10,8], " + mask +
         ") -> (%y) { constant %s = f32[]{0.35} %a: f32[1,3,10,8] = Transpose(%q) {perm=[0,2,1,3]} "
         "%b: f32[1,3,8,10] = Transpose(%k) {perm=[0,2,3,1]} %c: f32[1,3,10,10] = MatMul(%a, %b) "
         "%d: f32[1,3,10,10] = Mul(%c, %s) %e: f32[1,3,10,10] = Add(%d, %m) %f: f32[1,3,10,10] = Softmax(%e) {axis=-1} "
         "%g: f32[1,3,10,8] = MatMul(%f, %v) %y: f32[1,10,3,8] = Transpose(%g) {perm=" +
         turn + "} }";
}

Graph attention_graph(const std::string& text) {
  auto parsed = parse_graph(text);
  COLLAGE_CHECK(parsed.has_value(), parsed ? "" : to_string(parsed.error()));
  parsed->opsets[""] = 26;
  return *std::move(parsed);
}

std::vector<float> expected(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                            const std::vector<float>& mask) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<float> y(q.size());
  for (std::int64_t h = 0; h < kHeads; ++h)
    for (std::int64_t r = 0; r < kTokens; ++r) {
      std::vector<double> shares;
      double sum = 0;
      for (std::int64_t c = 0; c < kTokens; ++c) {
        double score = 0;
        for (std::int64_t d = 0; d < kHeadDepth; ++d)
          score += static_cast<double>(q[at((r * kHeads + h) * kHeadDepth + d)]) *
                   static_cast<double>(k[at((c * kHeads + h) * kHeadDepth + d)]);
        shares.push_back(std::exp(score * 0.35 + static_cast<double>(mask[at(c)])));
        sum += shares.back();
      }
      for (std::int64_t d = 0; d < kHeadDepth; ++d) {
        double mixed = 0;
        for (std::int64_t c = 0; c < kTokens; ++c)
          mixed += shares[at(c)] / sum * static_cast<double>(v[at((h * kTokens + c) * kHeadDepth + d)]);
        y[at((r * kHeads + h) * kHeadDepth + d)] = static_cast<float>(mixed);
      }
    }
  return y;
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  if (const auto offered = compiling("onednn3").support(graph, region_of(graph), {}))
    for (const Variant& variant : *offered) names.push_back(variant.name);
  return names;
}

TEST(OneDnn3Attention, IsOnePartition) {
  const Graph graph = attention_graph(attention());
  EXPECT_THAT(names_of(graph), testing::ElementsAre("graph"));
  const std::vector<float> q = numbers_drawn(240, 1), k = numbers_drawn(240, 2), v = numbers_drawn(240, 3),
                           mask = numbers_drawn(10, 4);
  const VariantRunner runner(
      "onednn3", graph,
      {make_tensor(ElementType::kFloat32, {1, 10, 3, 8}, q), make_tensor(ElementType::kFloat32, {1, 10, 3, 8}, k),
       make_tensor(ElementType::kFloat32, {1, 3, 10, 8}, v), make_tensor(ElementType::kFloat32, {1, 1, 1, 10}, mask)});
  const Variant variant = runner.offered()->at(0);
  const std::vector<float> wanted = expected(q, k, v, mask);
  for (const int threads : {1, 2}) {
    const CompileOptions options{.threads = threads};
    const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
    const auto artifacts = compiling("onednn3").compile({&request, 1}, options);
    ASSERT_TRUE(artifacts[0]) << artifacts[0].error().detail;
    const std::vector<Tensor> outputs = runner.run(variant, *artifacts[0], threads);
    ASSERT_EQ(outputs.size(), 1U);
    const auto y = outputs[0].data.as<float>();
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(y[i], wanted[i], 1e-5F) << i;
  }
}

TEST(OneDnn3Attention, TakesAConstantMask) {
  Graph graph = attention_graph(attention());
  graph.value(graph.inputs[3]).constant = make_tensor(ElementType::kFloat32, {1, 1, 1, 10}, numbers_drawn(10, 4));
  graph.inputs.resize(3);
  const std::vector<float> q = numbers_drawn(240, 1), k = numbers_drawn(240, 2), v = numbers_drawn(240, 3);
  const VariantRunner runner(
      "onednn3", graph,
      {make_tensor(ElementType::kFloat32, {1, 10, 3, 8}, q), make_tensor(ElementType::kFloat32, {1, 10, 3, 8}, k),
       make_tensor(ElementType::kFloat32, {1, 3, 10, 8}, v)});
  const auto runs = runner.run_all();
  ASSERT_EQ(runs.size(), 1U);
  const auto y = runs[0].outputs.at(0).data.as<float>();
  const std::vector<float> wanted = expected(q, k, v, numbers_drawn(10, 4));
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(y[i], wanted[i], 1e-5F) << i;
}

TEST(OneDnn3Attention, IsNothingElse) {
  EXPECT_THAT(names_of(attention_graph(attention("%m: f32[1,1,1,10]", "[0,2,3,1]"))), testing::IsEmpty());
}

TEST(OneDnn3Attention, ThatIsDamagedIsRefused) {
  const Graph graph = attention_graph(attention());
  const Variant variant = compiling("onednn3").support(graph, region_of(graph), {})->at(0);
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
  const auto whole = compiling("onednn3").compile({&request, 1}, {.threads = 1})[0];
  ASSERT_TRUE(whole);
  ASSERT_TRUE(loading("onednn3").load(request_of(graph, variant, *whole)));
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"extents\":[1,3,10,8]", "\"extents\":[1,3,99,8]"},
      {"\"strides\":[", "\"strides\":[-"},
      {"\"strides\":[", "\"strides\":[0,"},
      // The way to the last of 2^32 elements is 2^64.
      {"\"extents\":[1,3,8,10]", "\"extents\":[4294967296,1,1,1]"},
      {"\"schema\"", "\"more\":" + std::string(100'000, '[') + std::string(100'000, ']') + ",\"schema\""},
      {"\"index\":0", "\"index\":9"},
      {"\"constant\":false", "\"constant\":true"},
      {"attention/1\"", "attention/1\",,"}};
  expect_refused_when_changed(graph, variant, *whole, changes);
}

TEST(OneDnn3Attention, NeedsPortsWhoseBytesItKnowsAndAllBytesOfAConstantMask) {
  Graph graph = attention_graph(attention());
  graph.value(graph.inputs[3]).constant = make_tensor(ElementType::kFloat32, {1, 1, 1, 10}, numbers_drawn(10, 4));
  graph.inputs.resize(3);
  const Variant variant = compiling("onednn3").support(graph, region_of(graph), {})->at(0);
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
  const auto whole = compiling("onednn3").compile({&request, 1}, {.threads = 1})[0];
  ASSERT_TRUE(whole);
  const LoadRequest right = request_of(graph, variant, *whole);
  ASSERT_TRUE(loading("onednn3").load(right));
  LoadRequest other = right;
  other.inputs[0].place.format = {"other:small"};
  EXPECT_EQ(loading("onednn3").load(other).error().code, "backend/bad-artifact");
  other = right;
  other.outputs[0].place.format = {"other:small"};
  EXPECT_EQ(loading("onednn3").load(other).error().code, "backend/bad-artifact");
  other = right;
  other.constants[0].data = other.constants[0].data.slice(0, 4);
  EXPECT_EQ(loading("onednn3").load(other).error().code, "backend/bad-artifact");
}

}  // namespace
}  // namespace collage::test
