// Runs one-region graphs on the host backend in every variant it offers and hands back plain tensors.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "backend/extensions/format_extension.h"
#include "backend/registry.h"
#include "ir/graph.h"
#include "tests/support/dice.h"
#include "tests/support/variant_runner.h"

namespace collage {

using test::VariantRun;

inline Backend& host_backend() { return test::loading("host"); }

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

inline test::VariantRunner runner_of(const HostCase& under_test) {
  return {"host", under_test.graph, under_test.inputs};
}

/// Every variant the host offers for the whole graph as one region. Views are run as copies.
inline std::vector<VariantRun> run_all(const HostCase& under_test) { return runner_of(under_test).run_all(); }

inline std::expected<std::vector<Variant>, Refusal> host_support(const HostCase& under_test) {
  return runner_of(under_test).offered();
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
