#include "mnn_fixture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/dice.h"

namespace collage::test {
namespace {

constexpr const char* kInstance = "mnn";

std::vector<float> drawn(const Extents& extents, const std::string& name) {
  std::uint64_t seed = 7;
  for (const char letter : name) seed = seed * 131 + static_cast<unsigned char>(letter);
  Dice dice(seed);
  std::vector<float> numbers(static_cast<std::size_t>(element_count(extents)));
  for (float& number : numbers) number = static_cast<float>(static_cast<double>(dice.next() >> 11) * 0x1p-52 - 1.0);
  return numbers;
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.push_back(make_tensor(ElementType::kFloat32, graph.value(id).type.extents(), numbers_of(graph, id)));
  return inputs;
}

double largest_of(const Numbers& numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  return largest;
}

void expect_close(const Tensor& got, const Numbers& wanted) {
  const auto floats = got.data.as<float>();
  ASSERT_EQ(floats.size(), wanted.size());
  const double allowed = 1e-5 * largest_of(wanted) + 1e-6;
  for (std::size_t i = 0; i < floats.size(); ++i)
    ASSERT_NEAR(static_cast<double>(floats[i]), wanted[i], allowed) << "element " << i;
}

/// The region's outputs in its order, as the graph's.
std::vector<Numbers> expected_by_port(const Graph& graph) {
  std::map<ValueId, Numbers> inputs;
  for (const ValueId id : graph.inputs) {
    const std::vector<float> numbers = numbers_of(graph, id);
    inputs[id] = Numbers(numbers.begin(), numbers.end());
  }
  const std::map<ValueId, Numbers> values = compute(graph, std::move(inputs));
  std::vector<Numbers> expected;
  for (const ValueId id : region_of(graph).outputs) expected.push_back(values.at(id));
  return expected;
}

}  // namespace

Graph graph_of(const std::string& text) {
  auto parsed = parse_graph(text);
  COLLAGE_CHECK(parsed.has_value(), parsed ? "" : to_string(parsed.error()));
  Graph graph = *std::move(parsed);
  graph.opsets[""] = 26;
  for (const ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (!value.name.starts_with('w')) continue;
    const Extents extents = value.type.extents();
    value.constant = make_tensor(ElementType::kFloat32, extents, drawn(extents, value.name));
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

std::vector<float> numbers_of(const Graph& graph, ValueId id) {
  return drawn(graph.value(id).type.extents(), graph.value(id).name);
}

std::vector<Numbers> expected_of(const Graph& graph) { return expected_by_port(graph); }

std::vector<std::string> variants_of(const std::string& text, Accuracy accuracy) {
  const Graph graph = graph_of(text);
  const auto variants = compiling(kInstance).support(graph, region_of(graph), {.accuracy = accuracy});
  std::vector<std::string> names;
  if (variants)
    for (const Variant& variant : *variants) names.push_back(variant.name);
  return names;
}

Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads) {
  Variant wanted = plain_variant(region_of(graph));
  wanted.name = variant;
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = wanted, .model_bytes = {}};
  auto artifacts = backend.compile({&request, 1}, {.threads = threads, .accuracy = Accuracy::kStandard});
  COLLAGE_CHECK(artifacts[0].has_value(), artifacts[0] ? "" : artifacts[0].error().detail);
  return *artifacts[0];
}

LoadRequest request_of(const Graph& graph, const Artifact& artifact, int threads) {
  return request_of(graph, plain_variant(region_of(graph)), artifact, threads);
}

std::vector<std::string> expect_right(const std::string& text) {
  const Graph graph = graph_of(text);
  const std::vector<Numbers> expected = expected_by_port(graph);
  std::vector<std::string> names;
  for (const int threads : {1, 2}) {
    const VariantRunner runner(kInstance, graph, inputs_of(graph), {.threads = threads});
    const auto offered = runner.offered();
    EXPECT_TRUE(offered) << text << ": " << offered.error().detail;
    if (!offered) return {};
    names.clear();
    for (const Variant& variant : *offered) {
      SCOPED_TRACE(text + '\n' + variant.name + ' ' + std::to_string(threads));
      names.push_back(variant.name);
      const auto run = runner.run(variant);
      EXPECT_TRUE(run) << run.error().detail;
      if (!run || run->outputs.size() != expected.size()) continue;
      for (std::size_t i = 0; i < expected.size(); ++i) expect_close(run->outputs[i], expected[i]);
    }
  }
  return names;
}

double error_of(const std::string& text, const std::string& variant, Accuracy accuracy) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_by_port(graph)[0];
  Variant wanted = plain_variant(region_of(graph));
  wanted.name = variant;
  const auto run = VariantRunner(kInstance, graph, inputs_of(graph), {.accuracy = accuracy}).run(wanted);
  EXPECT_TRUE(run) << run.error().detail;
  if (!run || run->outputs.empty()) return 1;
  const auto floats = run->outputs[0].data.as<float>();
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, std::abs(static_cast<double>(floats[i]) - expected[i]));
  return error / largest_of(expected);
}

std::string refusal_of(const std::string& text) {
  const Graph graph = graph_of(text);
  const auto variants = compiling(kInstance).support(graph, region_of(graph), {});
  return variants ? "" : std::string(name_of(variants.error().reason)) + ": " + variants.error().detail;
}

}  // namespace collage::test
