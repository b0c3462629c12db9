#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/narrow_float.h"
#include "naive.h"
#include "region/narrow_variant.h"
#include "tests/support/processor.h"

namespace collage::test {
namespace {

/// Inputs of a graph, the same for every variant; with `narrow`, numbers that bfloat16 has.
std::vector<Tensor> inputs_of(const Graph& graph, bool narrow) {
  std::vector<Tensor> inputs;
  std::uint64_t state = 99;
  for (const ValueId id : graph.inputs) {
    const Extents extents = graph.value(id).type.extents();
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < element_count(extents); ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const float number = static_cast<float>(state >> 40) / static_cast<float>(1U << 23) - 1.F;
      numbers.push_back(narrow ? from_bfloat(to_bfloat(number)) : number);
    }
    inputs.push_back(make_tensor(ElementType::kFloat32, extents, numbers));
  }
  return inputs;
}

Numbers expected_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<ValueId, Numbers> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto numbers = inputs[i].data.as<float>();
    values[graph.inputs[i]] = Numbers(numbers.begin(), numbers.end());
  }
  return compute(graph, std::move(values)).at(graph.outputs[0]);
}

struct Allowed {
  double of_largest = 0;  ///< of the output's largest magnitude
  double of_own = 1e-4;   ///< of the element
};

Allowed allowed_for(const Variant& variant) {
  if (has_narrow_port(variant)) return {.of_largest = 1e-2, .of_own = 1e-2};
  return {.of_largest = variant.name.starts_with("wino") ? 1e-4 : 1e-5};
}

void expect_close(const std::vector<Tensor>& outputs, const Numbers& wanted, const Allowed& tolerance) {
  ASSERT_EQ(outputs.size(), 1U);
  const auto got = outputs[0].data.as<float>();
  double largest = 0;
  for (const double number : wanted) largest = std::max(largest, std::abs(number));
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = tolerance.of_largest * largest + tolerance.of_own * std::abs(wanted[i]) + 1e-6;
    ASSERT_LE(std::abs(got[i] - wanted[i]), allowed) << "element " << i << ": " << got[i] << ", not " << wanted[i];
  }
}

/// Compares what a variant computes, and with its constants prepared, which leaves nothing of the originals to be
/// packed. "" or its refusal.
std::string refusal_of(const VariantRunner& runner, const Variant& variant, const Numbers& expected) {
  const auto ran = runner.run(variant);
  if (!ran) return std::string(name_of(ran.error().reason)) + ": " + ran.error().detail;
  const Allowed tolerance = allowed_for(variant);
  expect_close(ran->outputs, expected, tolerance);
  const std::vector<Tensor> prepared = runner.run_prepared(variant, ran->artifact);
  EXPECT_EQ(!prepared.empty(), !ran->artifact.constants.empty());
  if (!prepared.empty()) expect_close(prepared, expected, tolerance);
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
  const std::vector<Tensor> inputs = inputs_of(net.graph, accuracy == Accuracy::kFast);
  const VariantRunner runner("onednn", net.graph, inputs, {.threads = threads, .accuracy = accuracy});
  const auto variants = runner.offered();
  if (!variants) {
    ADD_FAILURE() << name_of(variants.error().reason) << ": " << variants.error().detail;
    return outcomes;
  }
  const Numbers expected = expected_of(net.graph, inputs);
  for (const Variant& variant : *variants) {
    SCOPED_TRACE(variant.name);
    EXPECT_FALSE(outcomes.contains(variant.name)) << "two variants of one name";
    outcomes[variant.name] = refusal_of(runner, variant, expected);
  }
  return outcomes;
}

Outcomes run_split_variants(const Net& net, int threads) {
  Outcomes outcomes;
  const std::vector<Tensor> inputs = inputs_of(net.graph, false);
  const auto variants =
      onednn().support(net.graph, region_of(net.graph), {.threads = threads, .accuracy = Accuracy::kFast});
  const VariantRunner runner("onednn", net.graph, inputs, {.threads = threads});
  const Numbers expected = expected_of(net.graph, inputs);
  for (const Variant& variant : variants.value_or(std::vector<Variant>())) {
    if (!has_few_bits(variant) || is_narrow(variant)) continue;
    SCOPED_TRACE(variant.name);
    outcomes[variant.name] = refusal_of(runner, variant, expected);
  }
  return outcomes;
}

std::set<std::string> passed(const Outcomes& outcomes) {
  std::set<std::string> names;
  for (const auto& [name, refusal] : outcomes)
    if (refusal.empty()) names.insert(name);
  return names;
}

std::set<std::string> here(std::set<std::string> names) {
  if (has_avx512()) return names;
  std::erase_if(names, [](const std::string& name) {
    return name.find("brg") != std::string::npos || name.find("wino") != std::string::npos ||
           name.starts_with("merged_jit");
  });
  return names;
}

Backend& onednn() { return compiling("onednn"); }
Backend& other_onednn() { return loading("onednn"); }

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
