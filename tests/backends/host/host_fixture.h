// Runs one-region graphs on the host backend in every variant it offers and hands back plain tensors.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "backend/extensions/format_extension.h"
#include "backend/registry.h"
#include "ir/graph.h"
#include "region/variant.h"
#include "tests/support/dice.h"
#include "tests/support/paths.h"

namespace collage {

/// 64-byte aligned bytes.
class Bytes {
 public:
  explicit Bytes(std::size_t size) {
    buffer_ = Buffer::make(size, [this](std::span<std::byte> bytes) { writable_ = bytes; });
  }
  [[nodiscard]] std::byte* data() const { return writable_.data(); }
  [[nodiscard]] std::size_t size() const { return writable_.size(); }

 private:
  Buffer buffer_;
  std::span<std::byte> writable_;
};

inline Registry& host_registry() {
  static Registry registry({test::build_path("/lib/collage")});
  return registry;
}

inline Backend& host_backend() {
  auto backend = host_registry().get("host");
  EXPECT_TRUE(backend) << to_string(backend.error());
  return **backend;
}

template <class T>
Tensor random_tensor(ElementType type, const Extents& extents, std::uint64_t seed, T low, T high) {
  Dice dice(seed);
  std::vector<T> values(static_cast<std::size_t>(element_count(extents)));
  for (T& value : values) {
    const double unit = static_cast<double>(dice.next() >> 11) * 0x1p-53;
    value = static_cast<T>(static_cast<double>(low) + unit * (static_cast<double>(high) - static_cast<double>(low)));
  }
  return make_tensor(type, extents, values);
}

inline Tensor random_floats(const Extents& extents, std::uint64_t seed = 1, float low = -3, float high = 3) {
  return random_tensor<float>(ElementType::kFloat32, extents, seed, low, high);
}

/// 0, 1, 2, ...: every element different, so that a wrong place shows.
template <class T = float>
Tensor counting(ElementType type, const Extents& extents) {
  std::vector<T> values(static_cast<std::size_t>(element_count(extents)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  return make_tensor(type, extents, values);
}

/// A region under test: values are added by name, tensors of inputs kept beside.
struct HostCase {
  Graph graph;
  std::vector<Tensor> inputs;

  ValueId input(Tensor tensor) {
    graph.inputs.push_back(add_value(graph, "in" + std::to_string(inputs.size()), tensor.value_type()));
    inputs.push_back(std::move(tensor));
    return graph.inputs.back();
  }
  ValueId constant(Tensor tensor) {
    return add_constant(graph, "c" + std::to_string(graph.values.size()), std::move(tensor));
  }
  ValueId integers(const std::vector<std::int64_t>& values) {
    return constant(make_tensor(ElementType::kInt64, {static_cast<std::int64_t>(values.size())}, values));
  }
  std::vector<ValueId> node(const std::string& op, std::vector<ValueId> in, const std::vector<ValueType>& out,
                            std::vector<Attribute> attributes = {}) {
    Node node;
    node.op_type = op;
    node.inputs = std::move(in);
    for (const ValueType& type : out) node.outputs.push_back(add_value(graph, "", type));
    node.attributes = std::move(attributes);
    const std::vector<ValueId> outputs = node.outputs;
    add_node(graph, std::move(node));
    return outputs;
  }
  void output(ValueId id) { graph.outputs.push_back(id); }
};

/// Bytes of a plain tensor in a common format.
inline Bytes in_format(const Tensor& tensor, const Format& format) {
  Bytes bytes(tensor.data.size());
  if (tensor.data.size() > 0)
    convert_common_format(tensor.value_type(), plain(), tensor.data.data(), format, bytes.data());
  return bytes;
}

inline Tensor in_plain(const ValueType& type, const Format& format, const Bytes& bytes) {
  Tensor tensor{.type = type.element, .extents = type.extents(), .data = {}, .strings = {}};
  tensor.data = Buffer::make(bytes.size(), [&](std::span<std::byte> out) {
    if (!out.empty()) convert_common_format(type, format, bytes.data(), plain(), out.data());
  });
  return tensor;
}

inline Port port_of(const Graph& graph, ValueId id, const Format& format) {
  return {graph.value(id).name, graph.value(id).type, {.format = format}};
}

/// Loads what the backend compiled for one variant and runs it; outputs in plain format.
inline std::vector<Tensor> run_variant(const HostCase& under_test, const Region& region, const Variant& variant,
                                       const Artifact& artifact, int threads = 1) {
  const Graph& graph = under_test.graph;
  LoadRequest request;
  request.threads = threads;
  request.artifact = artifact;
  for (const ValueId id : artifact.constants) request.constants.push_back(*graph.value(id).constant);
  for (std::size_t i = 0; i < region.inputs.size(); ++i)
    request.inputs.push_back(port_of(graph, region.inputs[i], variant.input_formats[i]));
  for (std::size_t i = 0; i < region.outputs.size(); ++i)
    request.outputs.push_back(port_of(graph, region.outputs[i], variant.output_formats[i]));
  auto kernel = host_backend().load(request);
  EXPECT_TRUE(kernel) << to_string(kernel.error());
  if (!kernel) return {};

  std::vector<Bytes> held;
  Buffers buffers;
  for (std::size_t i = 0; i < region.inputs.size(); ++i) {
    const auto place = std::find(graph.inputs.begin(), graph.inputs.end(), region.inputs[i]) - graph.inputs.begin();
    held.push_back(in_format(under_test.inputs[static_cast<std::size_t>(place)], variant.input_formats[i]));
    buffers.inputs.push_back(held.back().data());
  }
  const std::size_t first_output = held.size();
  for (const Port& port : request.outputs) {
    held.emplace_back(byte_count(port.type.element, port.type.extents()));
    std::memset(held.back().data(), 0xcd, held.back().size());
    buffers.outputs.push_back(held.back().data());
  }
  held.emplace_back(artifact.workspace_bytes);
  buffers.workspace = held.back().data();
  auto call = (*kernel)->bind(buffers);
  EXPECT_TRUE(call);
  auto done = (*call)->run();
  EXPECT_TRUE(done) << to_string(done.error());
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < region.outputs.size(); ++i)
    outputs.push_back(in_plain(request.outputs[i].type, variant.output_formats[i], held[first_output + i]));
  return outputs;
}

struct VariantRun {
  Variant variant;
  Artifact artifact;
  std::vector<Tensor> outputs;
};

/// Every variant the host offers for the whole graph as one region. Views are run as copies.
inline std::vector<VariantRun> run_all(const HostCase& under_test) {
  const Uses uses = uses_of(under_test.graph);
  const Region region = whole_region(under_test.graph, uses);
  const auto variants = host_backend().support(under_test.graph, region, {});
  EXPECT_TRUE(variants) << variants.error().detail;
  std::vector<VariantRun> runs;
  if (!variants) return runs;
  for (const Variant& variant : *variants) {
    std::vector<CompileRequest> requests(1);
    requests[0] = {.graph = &under_test.graph, .region = region, .variant = variant, .model_bytes = std::nullopt};
    auto artifacts = host_backend().compile(requests, {});
    EXPECT_TRUE(artifacts[0]) << artifacts[0].error().detail;
    if (!artifacts[0]) continue;
    runs.push_back({variant, *artifacts[0], run_variant(under_test, region, variant, *artifacts[0])});
  }
  return runs;
}

inline std::expected<std::vector<Variant>, Refusal> host_support(const HostCase& under_test) {
  const Uses uses = uses_of(under_test.graph);
  return host_backend().support(under_test.graph, whole_region(under_test.graph, uses), {});
}

/// Formats of a variant's first input and output and its name: "view plain->channels_last".
inline std::string text_of(const Variant& variant) {
  return variant.name + " " + variant.input_formats.front().name + "->" + variant.output_formats.front().name;
}

/// Position of a row-major index vector.
inline std::int64_t flat(const Extents& extents, const std::vector<std::int64_t>& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) position = position * extents[i] + index[i];
  return position;
}

/// Calls use(index) for every index vector below extents, in row-major order.
template <class Use>
void for_each_index(const Extents& extents, Use use) {
  if (element_count(extents) == 0) return;
  std::vector<std::int64_t> index(extents.size(), 0);
  while (true) {
    use(index);
    std::size_t axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// The tensor whose element at `index` is source's at `from(index)`.
template <class From>
Tensor rearranged(const Tensor& source, const Extents& extents, From from) {
  const std::size_t bytes = static_cast<std::size_t>(bits_of(source.type) / 8);
  Tensor out{.type = source.type, .extents = extents, .data = {}, .strings = {}};
  out.data = Buffer::make(byte_count(source.type, extents), [&](std::span<std::byte> to) {
    std::size_t next = 0;
    for_each_index(extents, [&](const std::vector<std::int64_t>& index) {
      const auto position = static_cast<std::size_t>(flat(source.extents, from(index)));
      std::memcpy(to.data() + next, source.data.data() + position * bytes, bytes);
      next += bytes;
    });
  });
  return out;
}

}  // namespace collage
