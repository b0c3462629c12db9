#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "naive.h"
#include "tests/support/paths.h"
#include "tests/support/prepare_one.h"

namespace collage::test {
namespace {

/// Inputs of a graph as f32, the same for every variant.
std::vector<std::vector<float>> inputs_of(const Graph& graph) {
  std::vector<std::vector<float>> inputs;
  std::uint64_t state = 99;
  for (const ValueId id : graph.inputs) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < element_count(graph.value(id).type.extents()); ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      numbers.push_back(static_cast<float>(state >> 40) / static_cast<float>(1U << 23) - 1.F);
    }
    inputs.push_back(std::move(numbers));
  }
  return inputs;
}

struct Expected {
  std::vector<std::vector<float>> inputs;
  Numbers output;
};

Expected expected_of(const Graph& graph) {
  Expected expected{.inputs = inputs_of(graph), .output = {}};
  std::map<ValueId, Numbers> values;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    values[graph.inputs[i]] = Numbers(expected.inputs[i].begin(), expected.inputs[i].end());
  expected.output = compute(graph, std::move(values)).at(graph.outputs[0]);
  return expected;
}

void expect_close(const std::vector<float>& got, const Numbers& wanted, double of_largest) {
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = of_largest * largest + 1e-4 * std::abs(wanted[i]) + 1e-6;
    ASSERT_LE(std::abs(got[i] - wanted[i]), allowed) << "element " << i << ": " << got[i] << ", not " << wanted[i];
  }
}

/// A loaded variant with the ports it was compiled for.
struct Ready {
  const Graph& graph;
  const Region& region;
  const Variant& variant;
  const Artifact& artifact;
  const Kernel& kernel;
};

std::size_t bytes_in(const ValueType& type, const Format& format) {
  const auto bytes = format_bytes(onednn(), type, format);
  EXPECT_TRUE(bytes.has_value()) << format.name;
  return bytes.value_or(0);
}

/// Runs with fresh buffers; `shared` lets the output lie in that input's memory.
void run_once(const Ready& ready, const Expected& expected, std::optional<std::uint32_t> shared, double tolerance) {
  std::vector<AlignedBytes> owned;
  Buffers buffers;
  for (std::size_t i = 0; i < ready.region.inputs.size(); ++i) {
    const ValueType& type = ready.graph.value(ready.region.inputs[i]).type;
    const auto position = std::ranges::find(ready.graph.inputs, ready.region.inputs[i]) - ready.graph.inputs.begin();
    const std::vector<float> stored =
        to_format(expected.inputs[static_cast<std::size_t>(position)], type.extents(), ready.variant.input_formats[i]);
    ASSERT_EQ(stored.size() * sizeof(float), bytes_in(type, ready.variant.input_formats[i]));
    owned.emplace_back(stored.size() * sizeof(float));
    std::memcpy(owned.back().data(), stored.data(), stored.size() * sizeof(float));
    buffers.inputs.push_back(owned.back().data());
  }
  const ValueType& type = ready.graph.value(ready.region.outputs[0]).type;
  const Format& format = ready.variant.output_formats[0];
  const std::size_t bytes = bytes_in(type, format);
  owned.emplace_back(bytes, 0xff);
  buffers.outputs.push_back(shared ? const_cast<void*>(buffers.inputs[*shared]) : owned.back().data());
  owned.emplace_back(ready.artifact.workspace_bytes + 64, 0xff);
  buffers.workspace = owned.back().data();
  auto call = ready.kernel.bind(buffers);
  ASSERT_TRUE(call) << to_string(call.error());
  if (!shared) {
    const auto first = (*call)->run();
    ASSERT_TRUE(first) << to_string(first.error());
    std::memset(buffers.outputs[0], 0xff, bytes);
  }
  const auto done = (*call)->run();
  ASSERT_TRUE(done) << to_string(done.error());
  std::vector<float> stored(bytes / sizeof(float));
  std::memcpy(stored.data(), buffers.outputs[0], bytes);
  expect_close(from_format(stored, type.extents(), format), expected.output, tolerance);
}

/// Once more with the constants prepared, which leaves nothing of the originals to be packed.
void run_prepared(const Ready& ready, LoadRequest load, const Expected& expected, double tolerance) {
  const auto prepared = test::prepare_one(onednn(), load);
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  ASSERT_EQ(prepared->has_value(), !load.constants.empty());
  if (!*prepared) return;
  Artifact artifact = ready.artifact;
  artifact.bytes = (*prepared)->bytes;
  load.artifact = artifact;
  load.constants = constants_of(**prepared, load.constants);
  const auto kernel = other_onednn().load(load);
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  run_once({ready.graph, ready.region, ready.variant, ready.artifact, **kernel}, expected, std::nullopt, tolerance);
}

std::string run_variant(const Net& net, const Region& region, const Variant& variant, const Expected& expected,
                        const CompileOptions& options) {
  const CompileRequest request{.graph = &net.graph, .region = region, .variant = variant, .model_bytes = {}};
  const auto artifacts = onednn().compile(std::span(&request, 1), options);
  if (!artifacts[0]) return std::string(name_of(artifacts[0].error().reason)) + ": " + artifacts[0].error().detail;
  LoadRequest load{.artifact = *artifacts[0], .constants = {}, .inputs = {}, .outputs = {}, .threads = options.threads};
  for (const ValueId id : artifacts[0]->constants) load.constants.push_back(*net.graph.value(id).constant);
  auto kernel = other_onednn().load(load);
  if (!kernel) {
    ADD_FAILURE() << to_string(kernel.error());
    return "not loaded";
  }
  const Ready ready{net.graph, region, variant, *artifacts[0], **kernel};
  const double tolerance = variant.name.starts_with("wino") ? 1e-4 : 1e-5;
  run_once(ready, expected, std::nullopt, tolerance);
  for (const auto& [out, in] : artifacts[0]->in_place) {
    EXPECT_EQ(out, 0U);
    run_once(ready, expected, in, tolerance);
  }
  run_prepared(ready, load, expected, tolerance);
  return {};
}

std::int64_t block_of(const Format& format) { return format.name == "onednn:nChw16c" ? 16 : 8; }

/// The place of element `at` (n, c, pixel) in a format, in floats.
std::size_t place_of(const Format& format, const Extents& extents, std::int64_t n, std::int64_t c, std::int64_t p) {
  const std::int64_t channels = extents[1];
  const std::int64_t pixels = element_count(extents) / extents[0] / channels;
  if (format.is_channels_last()) return static_cast<std::size_t>((n * pixels + p) * channels + c);
  const std::int64_t block = block_of(format);
  const std::int64_t blocks = (channels + block - 1) / block;
  return static_cast<std::size_t>(((n * blocks + c / block) * pixels + p) * block + c % block);
}

template <class Visit>
void for_each_place(const Format& format, const Extents& extents, Visit&& visit) {
  const std::int64_t pixels = element_count(extents) / extents[0] / extents[1];
  std::size_t i = 0;
  for (std::int64_t n = 0; n < extents[0]; ++n)
    for (std::int64_t c = 0; c < extents[1]; ++c)
      for (std::int64_t p = 0; p < pixels; ++p) visit(i++, place_of(format, extents, n, c, p));
}

Backend& instance(int which) {
  static std::vector<std::unique_ptr<Registry>> registries;
  while (static_cast<int>(registries.size()) <= which)
    registries.push_back(std::make_unique<Registry>(std::vector<std::string>{test::build_path("/lib/collage")}));
  auto backend = registries[static_cast<std::size_t>(which)]->get("onednn");
  COLLAGE_CHECK(backend.has_value(), backend ? "" : to_string(backend.error()));
  return **backend;
}

}  // namespace

Net::Net() { graph.opsets[""] = 26; }

float Net::draw() {
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  return static_cast<float>(state_ >> 40) / static_cast<float>(1U << 24);
}

ValueId Net::input(Extents extents) {
  const ValueId id = add_value(graph, "", ValueType::tensor(ElementType::kFloat32, extents));
  graph.inputs.push_back(id);
  return id;
}

ValueId Net::constant(const Extents& extents, float low, float high) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < element_count(extents); ++i) numbers.push_back(low + (high - low) * draw());
  return add_constant(graph, "", make_tensor(ElementType::kFloat32, extents, numbers));
}

ValueId Net::scalar(float number) {
  return add_constant(graph, "", make_tensor<float>(ElementType::kFloat32, {}, {number}));
}

ValueId Net::integers(const std::vector<std::int64_t>& numbers) {
  return add_constant(graph, "",
                      make_tensor(ElementType::kInt64, {static_cast<std::int64_t>(numbers.size())}, numbers));
}

ValueId Net::op(const std::string& type, std::vector<ValueId> inputs, const Extents& out,
                std::vector<Attribute> attributes) {
  const ValueId id = add_value(graph, "", ValueType::tensor(ElementType::kFloat32, out));
  add_node(graph, Node{.name = {},
                       .domain = {},
                       .op_type = type,
                       .inputs = std::move(inputs),
                       .outputs = {id},
                       .captures = {},
                       .attributes = std::move(attributes)});
  return id;
}

ValueId Net::same(const std::string& type, std::vector<ValueId> inputs, std::vector<Attribute> attributes) {
  const Extents out = extents(inputs[0]);
  return op(type, std::move(inputs), out, std::move(attributes));
}

ValueId Net::conv(ValueId x, std::int64_t channels, std::int64_t kernel, const WindowAttributes& window) {
  const Extents in = extents(x);
  const std::size_t rank = in.size() - 2;
  Extents weights = {channels, in[1] / window.group};
  Extents out = {in[0], channels};
  for (std::size_t a = 0; a < rank; ++a) {
    weights.push_back(kernel);
    out.push_back((in[a + 2] + 2 * window.pad - (kernel - 1) * window.dilation - 1) / window.stride + 1);
  }
  std::vector<ValueId> inputs = {x, constant(weights)};
  if (window.bias) inputs.push_back(constant({channels}));
  using List = std::vector<std::int64_t>;
  return op("Conv", inputs, out,
            {{"strides", List(rank, window.stride)},
             {"pads", List(2 * rank, window.pad)},
             {"dilations", List(rank, window.dilation)},
             {"group", window.group}});
}

ValueId Net::pool(const std::string& type, ValueId x, std::int64_t kernel, const WindowAttributes& window,
                  std::vector<Attribute> more) {
  const Extents in = extents(x);
  const std::size_t rank = in.size() - 2;
  Extents out = {in[0], in[1]};
  for (std::size_t a = 0; a < rank; ++a) out.push_back((in[a + 2] + 2 * window.pad - kernel) / window.stride + 1);
  using List = std::vector<std::int64_t>;
  more.push_back({"kernel_shape", List(rank, kernel)});
  more.push_back({"strides", List(rank, window.stride)});
  more.push_back({"pads", List(2 * rank, window.pad)});
  return op(type, {x}, out, std::move(more));
}

Outcomes run_every_variant(const Net& net, Accuracy accuracy, int threads) {
  Outcomes outcomes;
  const Region region = region_of(net.graph);
  const CompileOptions options{.threads = threads, .accuracy = accuracy};
  const auto variants = onednn().support(net.graph, region, options);
  if (!variants) {
    ADD_FAILURE() << name_of(variants.error().reason) << ": " << variants.error().detail;
    return outcomes;
  }
  const Expected expected = expected_of(net.graph);
  for (const Variant& variant : *variants) {
    SCOPED_TRACE(variant.name);
    EXPECT_FALSE(outcomes.contains(variant.name)) << "two variants of one name";
    outcomes[variant.name] = run_variant(net, region, variant, expected, options);
    if (getenv("SHOW")) printf("    %s -> %s\n", variant.name.c_str(), outcomes[variant.name].c_str());
  }
  return outcomes;
}

std::set<std::string> passed(const Outcomes& outcomes) {
  std::set<std::string> names;
  for (const auto& [name, refusal] : outcomes)
    if (refusal.empty()) names.insert(name);
  return names;
}

Backend& onednn() { return instance(0); }
Backend& other_onednn() { return instance(1); }

Region region_of(const Graph& graph) { return whole_region(graph, uses_of(graph)); }

std::vector<Tensor> constants_of(const PreparedArtifact& prepared, const std::vector<Tensor>& originals) {
  std::vector<Tensor> constants;
  for (const PreparedArtifact::Constant& constant : prepared.constants) {
    if (const auto* as_it_is = std::get_if<std::size_t>(&constant)) {
      constants.push_back(originals[*as_it_is]);
      continue;
    }
    const auto& bytes = std::get<Buffer>(constant);
    constants.push_back({.type = ElementType::kUint8,
                         .extents = {static_cast<std::int64_t>(bytes.size())},
                         .data = bytes,
                         .strings = {}});
  }
  return constants;
}

Refusal refusal_of(const Net& net) {
  const auto variants = onednn().support(net.graph, region_of(net.graph), {});
  EXPECT_FALSE(variants.has_value());
  return variants ? Refusal{} : variants.error();
}

std::vector<float> to_format(const std::vector<float>& numbers, const Extents& extents, const Format& format) {
  if (format.is_plain()) return numbers;
  const auto bytes = format_bytes(onednn(), ValueType::tensor(ElementType::kFloat32, extents), format);
  std::vector<float> stored(bytes.value_or(0) / sizeof(float), 0.F);
  for_each_place(format, extents, [&](std::size_t from, std::size_t to) { stored[to] = numbers[from]; });
  return stored;
}

std::vector<float> from_format(const std::vector<float>& stored, const Extents& extents, const Format& format) {
  if (format.is_plain()) return stored;
  std::vector<float> left = stored;
  std::vector<float> numbers(static_cast<std::size_t>(element_count(extents)));
  for_each_place(format, extents, [&](std::size_t to, std::size_t from) {
    numbers[to] = stored[from];
    left[from] = 0.F;
  });
  EXPECT_EQ(std::ranges::count(left, 0.F), std::ssize(left)) << "the padding of blocks is not zero";
  return numbers;
}

AlignedBytes::AlignedBytes(std::size_t bytes, unsigned char fill)
    : buffer_(Buffer::make(bytes, [fill](std::span<std::byte> all) { std::memset(all.data(), fill, all.size()); })) {}

}  // namespace collage::test
