#include "tvm_fixture.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tests/support/dice.h"

namespace collage::test {
namespace {

std::vector<float> drawn(const Extents& extents, const std::string& name) {
  std::uint64_t seed = 11;
  for (const char letter : name) seed = seed * 131 + static_cast<unsigned char>(letter);
  Dice dice(seed);
  std::vector<float> numbers(static_cast<std::size_t>(element_count(extents)));
  for (float& number : numbers) number = static_cast<float>(static_cast<double>(dice.next() >> 11) * 0x1p-52 - 1.0);
  return numbers;
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

void expect_close(const Tensor& got, const Numbers& wanted) {
  const auto numbers = got.data.as<float>();
  ASSERT_EQ(numbers.size(), wanted.size());
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_NEAR(static_cast<double>(numbers[i]), wanted[i], 1e-5 * largest + 1e-6) << "element " << i;
}

std::vector<Variant> variants_of(const std::string& instance, const Graph& graph) {
  const auto variants = compiling(instance).support(graph, region_of(graph), {});
  return variants ? *variants : std::vector<Variant>();
}

std::expected<Artifact, Refusal> compiled(Backend& backend, const Graph& graph, int threads) {
  const auto variants = backend.support(graph, region_of(graph), {});
  if (!variants) return std::unexpected(variants.error());
  const CompileRequest request{
      .graph = &graph, .region = region_of(graph), .variant = variants->front(), .model_bytes = {}};
  return backend.compile({&request, 1}, {.threads = threads})[0];
}

Artifact artifact_of(const std::string& instance, const Graph& graph, int threads) {
  const auto artifact = compiled(compiling(instance), graph, threads);
  COLLAGE_CHECK(artifact.has_value(), artifact ? "" : artifact.error().detail);
  return *artifact;
}

std::vector<std::string> expect_right(const std::string& instance, const std::string& text) {
  const Graph graph = graph_of(text);
  const Numbers expected = expected_of(graph);
  const VariantRunner runner(instance, graph, inputs_of(graph));
  std::vector<std::string> names;
  for (const VariantRun& run : runner.run_all()) {
    SCOPED_TRACE(text + '\n' + run.variant.name);
    names.emplace_back(way_of(run.variant.name));
    expect_close(run.outputs.at(0), expected);
    const std::vector<Tensor> prepared = runner.run_prepared(run.variant, run.artifact);
    if (!prepared.empty()) {
      EXPECT_EQ(prepared[0], run.outputs[0]) << "of prepared constants";
    }
  }
  return names;
}

std::string refusal_of(const std::string& text) {
  const Graph graph = graph_of(text);
  const auto variants = compiling(kUntuned).support(graph, region_of(graph), {});
  return variants ? "" : std::string(name_of(variants.error().reason)) + ": " + variants.error().detail;
}

Setting::Setting(std::string name, const std::string& value) : name_(std::move(name)) {
  if (const char* before = std::getenv(name_.c_str())) before_ = before;
  ::setenv(name_.c_str(), value.c_str(), 1);
}

Setting::~Setting() {
  if (before_)
    ::setenv(name_.c_str(), before_->c_str(), 1);
  else
    ::unsetenv(name_.c_str());
}

}  // namespace collage::test
