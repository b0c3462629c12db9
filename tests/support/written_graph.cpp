#include "tests/support/written_graph.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/dice.h"

namespace collage::test {
namespace {

std::vector<float> drawn(const Value& value) {
  std::uint64_t seed = 7;
  for (const char letter : value.name) seed = seed * 131 + static_cast<unsigned char>(letter);
  Dice dice(seed);
  std::vector<float> numbers(static_cast<std::size_t>(element_count(value.type.extents())));
  for (float& number : numbers) number = static_cast<float>(static_cast<double>(dice.next() >> 11) * 0x1p-52 - 1.0);
  return numbers;
}

Tensor constant_of(const Value& value) {
  const std::vector<float> numbers = drawn(value);
  const Extents extents = value.type.extents();
  if (value.type.element == ElementType::kFloat32) return make_tensor(ElementType::kFloat32, extents, numbers);
  std::vector<std::uint8_t> bytes;
  for (const float number : numbers) bytes.push_back(static_cast<std::uint8_t>(static_cast<int>(number * 63.F)));
  return make_tensor(value.type.element, extents, bytes);
}

}  // namespace

Graph graph_of(const std::string& text) {
  auto parsed = parse_graph(text);
  COLLAGE_CHECK(parsed.has_value(), parsed ? "" : to_string(parsed.error()));
  Graph graph = *std::move(parsed);
  graph.opsets[""] = 26;
  for (const ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (value.name.starts_with('w')) value.constant = constant_of(value);
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

std::vector<float> numbers_of(const Graph& graph, ValueId id) { return drawn(graph.value(id)); }

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.push_back(make_tensor(ElementType::kFloat32, graph.value(id).type.extents(), numbers_of(graph, id)));
  return inputs;
}

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

Numbers expected_of(const Graph& graph) { return expected_by_port(graph).front(); }

void expect_close(std::span<const float> got, const Numbers& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), wanted[i], 1e-5 * largest + 1e-6) << "element " << i;
}

std::vector<Variant> variants_of(const std::string& instance, const Graph& graph, const CompileOptions& options) {
  const auto variants = compiling(instance).support(graph, region_of(graph), options);
  return variants ? *variants : std::vector<Variant>();
}

Artifact artifact_of(Backend& backend, const Graph& graph, const Variant& variant, int threads) {
  const CompileOptions options{.threads = threads, .accuracy = Accuracy::kStandard};
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
  auto artifacts = backend.compile({&request, 1}, options);
  COLLAGE_CHECK(artifacts[0].has_value(), artifacts[0] ? "" : artifacts[0].error().detail);
  return *artifacts[0];
}

Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads) {
  const auto variants = backend.support(graph, region_of(graph), {.threads = threads, .accuracy = Accuracy::kStandard});
  COLLAGE_CHECK(variants.has_value(), variants ? "" : variants.error().detail);
  const auto found = std::ranges::find(*variants, variant, &Variant::name);
  COLLAGE_CHECK(found != variants->end(), "no variant " + variant);
  return artifact_of(backend, graph, *found, threads);
}

std::string refusal_of(const std::string& instance, const std::string& text) {
  const Graph graph = graph_of(text);
  const auto variants = compiling(instance).support(graph, region_of(graph), {});
  return variants ? "" : std::string(name_of(variants.error().reason)) + ": " + variants.error().detail;
}

}  // namespace collage::test
