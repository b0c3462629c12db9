#include "blas_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>

#include "tests/support/dice.h"
#include "tests/support/paths.h"

namespace collage::test {
namespace {

Registry& registry(int which) {
  static std::vector<std::unique_ptr<Registry>> registries;
  while (static_cast<int>(registries.size()) <= which)
    registries.push_back(std::make_unique<Registry>(std::vector<std::string>{test::build_path("/lib/collage")}));
  return *registries[static_cast<std::size_t>(which)];
}

Backend& instance_of(int which, const std::string& instance) {
  auto backend = registry(which).get(instance);
  COLLAGE_CHECK(backend.has_value(), backend ? "" : to_string(backend.error()));
  return **backend;
}

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

/// Bytes as the plan aligns them.
class Memory {
 public:
  explicit Memory(std::size_t floats) {
    buffer_ = Buffer::make(floats * sizeof(float), [this](std::span<std::byte> bytes) { writable_ = bytes; });
    std::ranges::fill(all(), std::numeric_limits<float>::quiet_NaN());
  }
  [[nodiscard]] std::span<float> all() const {
    return {reinterpret_cast<float*>(writable_.data()), writable_.size() / sizeof(float)};
  }

 private:
  Buffer buffer_;
  std::span<std::byte> writable_;
};

void convert(const ValueType& type, const Format& from, std::span<const float> in, const Format& to,
             std::span<float> out) {
  if (from == to)
    std::ranges::copy(in, out.begin());
  else
    convert_common_format(type, from, in.data(), to, out.data());
}

/// One kernel's buffers; `shared` is the input whose memory the output lies in.
std::vector<float> run_once(const Kernel& kernel, const Graph& graph, const Region& region, const Variant& variant,
                            std::optional<std::uint32_t> shared) {
  std::vector<Memory> memory;
  Buffers buffers;
  for (std::size_t i = 0; i < region.inputs.size(); ++i) {
    const std::vector<float> numbers = numbers_of(graph, region.inputs[i]);
    memory.emplace_back(numbers.size());
    convert(graph.value(region.inputs[i]).type, plain(), numbers, variant.input_formats[i], memory.back().all());
    buffers.inputs.push_back(memory.back().all().data());
  }
  const ValueType& type = graph.value(region.outputs[0]).type;
  if (!shared) memory.emplace_back(static_cast<std::size_t>(element_count(type.extents())));
  const std::span<float> output = memory[shared.value_or(static_cast<std::uint32_t>(memory.size() - 1))].all();
  buffers.outputs.push_back(output.data());
  const auto call = kernel.bind(buffers);
  EXPECT_TRUE(call && (*call)->run());
  std::vector<float> first(output.begin(), output.end());
  if (!shared) {
    std::ranges::fill(output, std::numeric_limits<float>::quiet_NaN());
    EXPECT_TRUE((*call)->run());
    EXPECT_TRUE(std::ranges::equal(first, output)) << "another run gives other numbers";
  }
  std::vector<float> result(first.size());
  convert(type, variant.output_formats[0], first, plain(), result);
  return result;
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
    if (registry(0).get(instance)) usable.push_back(instance);
  return usable;
}

Backend& compiling(const std::string& instance) { return instance_of(0, instance); }
Backend& loading(const std::string& instance) { return instance_of(1, instance); }

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

Region region_of(const Graph& graph) { return whole_region(graph, uses_of(graph)); }

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

LoadRequest request_of(const Graph& graph, const Artifact& artifact, int threads) {
  LoadRequest request{.artifact = artifact, .constants = {}, .inputs = {}, .outputs = {}, .threads = threads};
  for (const ValueId id : artifact.constants) request.constants.push_back(*graph.value(id).constant);
  const Region region = region_of(graph);
  const auto port_of = [&](ValueId id) { return Port{.name = graph.value(id).name, .type = graph.value(id).type}; };
  for (const ValueId id : region.inputs) request.inputs.push_back(port_of(id));
  for (const ValueId id : region.outputs) request.outputs.push_back(port_of(id));
  return request;
}

std::vector<float> run_variant(const std::string& instance, const Graph& graph, const Variant& variant, int threads) {
  const Artifact artifact = artifact_of(compiling(instance), graph, variant.name, threads);
  const Region region = region_of(graph);
  EXPECT_EQ(artifact.workspace_bytes, 0U);
  const auto kernel = loading(instance).load(request_of(graph, artifact, threads));
  COLLAGE_CHECK(kernel.has_value(), kernel ? "" : to_string(kernel.error()));
  std::vector<float> apart = run_once(**kernel, graph, region, variant, std::nullopt);
  for (const auto& [output, input] : artifact.in_place) {
    EXPECT_EQ(output, 0U);
    EXPECT_EQ(run_once(**kernel, graph, region, variant, input), apart) << "in place";
  }
  return apart;
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
