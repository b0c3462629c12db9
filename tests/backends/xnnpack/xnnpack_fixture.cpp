#include "xnnpack_fixture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/dice.h"

namespace collage::test {
namespace {

std::vector<float> drawn(const Extents& extents, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<float> numbers(static_cast<std::size_t>(element_count(extents)));
  for (float& number : numbers) number = static_cast<float>(static_cast<double>(dice.next() >> 11) * 0x1p-52 - 1.0);
  return numbers;
}

std::uint64_t seed_of(const std::string& name) {
  std::uint64_t seed = 7;
  for (const char letter : name) seed = seed * 131 + static_cast<unsigned char>(letter);
  return seed;
}

void expect_close(const std::vector<float>& got, const Numbers& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), wanted[i], 1e-5 * largest + 1e-6) << "element " << i;
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
    const std::vector<float> numbers = drawn(extents, seed_of(value.name));
    if (value.type.element == ElementType::kFloat32) {
      value.constant = make_tensor(ElementType::kFloat32, extents, numbers);
      continue;
    }
    std::vector<std::uint8_t> bytes;
    for (const float number : numbers) bytes.push_back(static_cast<std::uint8_t>(static_cast<int>(number * 63.F)));
    value.constant = make_tensor(value.type.element, extents, bytes);
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

std::vector<float> numbers_of(const Graph& graph, ValueId id) {
  return drawn(graph.value(id).type.extents(), seed_of(graph.value(id).name));
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.push_back(make_tensor(ElementType::kFloat32, graph.value(id).type.extents(), numbers_of(graph, id)));
  return inputs;
}

Numbers expected_of(const Graph& graph) {
  std::map<ValueId, Numbers> inputs;
  for (const ValueId id : graph.inputs) {
    const std::vector<float> numbers = numbers_of(graph, id);
    inputs[id] = Numbers(numbers.begin(), numbers.end());
  }
  return compute(graph, std::move(inputs)).at(graph.outputs[0]);
}

std::vector<Variant> variants_of(const Graph& graph) {
  const auto variants = compiling("xnnpack").support(graph, region_of(graph), {});
  return variants ? *variants : std::vector<Variant>();
}

Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads) {
  const CompileOptions options{.threads = threads, .accuracy = Accuracy::kStandard};
  const std::vector<Variant> variants = variants_of(graph);
  const auto found = std::ranges::find(variants, variant, &Variant::name);
  COLLAGE_CHECK(found != variants.end(), "no variant " + variant);
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = *found, .model_bytes = {}};
  auto artifacts = backend.compile({&request, 1}, options);
  COLLAGE_CHECK(artifacts[0].has_value(), artifacts[0] ? "" : artifacts[0].error().detail);
  return *artifacts[0];
}

std::vector<std::string> expect_right(const std::string& text, const std::string& same) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(same.empty() ? graph : graph_of(same));
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(graph)) {
    names.push_back(variant.name);
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(text + '\n' + variant.name + ' ' + std::to_string(threads));
      const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant.name, threads);
      const std::vector<Tensor> outputs =
          VariantRunner("xnnpack", graph, inputs_of(graph)).run(variant, artifact, threads);
      if (outputs.empty()) continue;
      const auto numbers = outputs[0].data.as<float>();
      expect_close({numbers.begin(), numbers.end()}, expected);
      const std::vector<Tensor> prepared =
          VariantRunner("xnnpack", graph, inputs_of(graph)).run_prepared(variant, artifact);
      if (threads > 1 || prepared.empty()) continue;
      EXPECT_EQ(prepared[0], outputs[0]) << "of prepared constants";
    }
  }
  return names;
}

std::string refusal_of(const std::string& text) {
  const Graph graph = graph_of(text);
  const auto variants = compiling("xnnpack").support(graph, region_of(graph), {});
  return variants ? "" : std::string(name_of(variants.error().reason)) + ": " + variants.error().detail;
}

std::size_t count_of(const Artifact& artifact, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = artifact.bytes.find(word); at != std::string::npos; at = artifact.bytes.find(word, at + 1))
    ++count;
  return count;
}

}  // namespace collage::test
