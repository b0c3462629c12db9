#include "blas_fixture.h"

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

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs)
    inputs.push_back(make_tensor(ElementType::kFloat32, graph.value(id).type.extents(), numbers_of(graph, id)));
  return inputs;
}

void expect_close(const std::vector<float>& got, const Numbers& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), wanted[i], 1e-5 * largest + 1e-6) << "element " << i;
}

}  // namespace

std::vector<std::string> usable_instances() {
  std::vector<std::string> usable;
  for (const std::string instance : {"blas", "blas:lib=blis", "blas:lib=mkl"})
    if (is_usable(instance)) usable.push_back(instance);
  return usable;
}

Graph graph_of(const std::string& text) {
  auto parsed = parse_graph(text);
  COLLAGE_CHECK(parsed.has_value(), parsed ? "" : to_string(parsed.error()));
  Graph graph = *std::move(parsed);
  graph.opsets[""] = 26;
  for (const ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (!value.name.starts_with('w')) continue;
    const Extents extents = value.type.extents();
    value.constant = make_tensor(ElementType::kFloat32, extents, drawn(extents, seed_of(value.name)));
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

std::vector<float> numbers_of(const Graph& graph, ValueId id) {
  return drawn(graph.value(id).type.extents(), seed_of(graph.value(id).name));
}

Numbers expected_of(const Graph& graph) {
  std::map<ValueId, Numbers> inputs;
  for (const ValueId id : graph.inputs) {
    const std::vector<float> numbers = numbers_of(graph, id);
    inputs[id] = Numbers(numbers.begin(), numbers.end());
  }
  return compute(graph, std::move(inputs)).at(graph.outputs[0]);
}

Artifact artifact_of(Backend& backend, const Graph& graph, const std::string& variant, int threads) {
  const CompileOptions options{.threads = threads, .accuracy = Accuracy::kStandard};
  const Region region = region_of(graph);
  const auto variants = backend.support(graph, region, options);
  COLLAGE_CHECK(variants.has_value(), variants ? "" : variants.error().detail);
  const auto found = std::ranges::find(*variants, variant, &Variant::name);
  COLLAGE_CHECK(found != variants->end(), "no variant " + variant);
  const CompileRequest request{.graph = &graph, .region = region, .variant = *found, .model_bytes = {}};
  auto artifacts = backend.compile({&request, 1}, options);
  COLLAGE_CHECK(artifacts[0].has_value(), artifacts[0] ? "" : artifacts[0].error().detail);
  return *artifacts[0];
}

LoadRequest request_of(const Graph& graph, const Artifact& artifact) {
  return request_of(graph, plain_variant(region_of(graph)), artifact);
}

std::vector<float> run_variant(const std::string& instance, const Graph& graph, const Variant& variant, int threads) {
  const Artifact artifact = artifact_of(compiling(instance), graph, variant.name, threads);
  EXPECT_EQ(artifact.workspace_bytes, 0U);
  const std::vector<Tensor> outputs = VariantRunner(instance, graph, inputs_of(graph)).run(variant, artifact, threads);
  if (outputs.empty()) return {};
  const auto numbers = outputs[0].data.as<float>();
  return {numbers.begin(), numbers.end()};
}

std::vector<std::string> expect_right(const std::string& text, const std::string& same) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(same.empty() ? graph : graph_of(same));
  std::vector<std::string> names;
  for (const std::string& instance : usable_instances()) {
    const auto variants = compiling(instance).support(graph, region_of(graph), {});
    EXPECT_TRUE(variants) << text << ": " << variants.error().detail;
    if (!variants) return {};
    names.clear();
    for (const Variant& variant : *variants) {
      names.push_back(variant.name);
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(text + '\n' + instance + ' ' + variant.name + ' ' + std::to_string(threads));
        expect_close(run_variant(instance, graph, variant, threads), expected);
      }
    }
  }
  return names;
}

std::string refusal_of(const std::string& text) {
  const Graph graph = graph_of(text);
  const auto variants = compiling("blas").support(graph, region_of(graph), {});
  return variants ? "" : std::string(name_of(variants.error().reason)) + ": " + variants.error().detail;
}

}  // namespace collage::test
