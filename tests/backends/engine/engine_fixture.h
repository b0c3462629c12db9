// Helpers for tests of the engine backends: small graphs, and a region run from plain tensors to plain tensors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/registry.h"
#include "region/variant.h"
#include "tests/support/paths.h"

namespace collage::testing {

inline Registry test_registry() { return Registry({test::build_path("/lib/collage")}); }

/// Deterministic values in [-1, 1).
inline std::vector<float> noise(std::size_t count, std::uint32_t seed) {
  std::vector<float> values;
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    values.push_back(static_cast<float>(state >> 8) / static_cast<float>(1U << 23) - 1.0F);
  }
  return values;
}

inline Tensor noise_tensor(const Extents& extents, std::uint32_t seed) {
  return make_tensor(ElementType::kFloat32, extents, noise(static_cast<std::size_t>(element_count(extents)), seed));
}

inline ValueType f32(const Extents& extents) { return ValueType::tensor(ElementType::kFloat32, extents); }

/// A graph under construction at the canonical operator sets.
struct GraphMaker {
  Graph graph;

  GraphMaker() {
    graph.name = "test";
    graph.opsets = {{"", 26}};
  }
  ValueId input(const std::string& name, const ValueType& type) {
    graph.inputs.push_back(add_value(graph, name, type));
    return graph.inputs.back();
  }
  ValueId constant(const std::string& name, Tensor tensor) { return add_constant(graph, name, std::move(tensor)); }
  ValueId op(const std::string& op_type, std::vector<ValueId> inputs, const ValueType& type,
             std::vector<Attribute> attributes = {}, const std::string& domain = {}) {
    const ValueId out = add_value(graph, "", type);
    add_node(graph, Node{.name = {},
                         .domain = domain,
                         .op_type = op_type,
                         .inputs = std::move(inputs),
                         .outputs = {out},
                         .captures = {},
                         .attributes = std::move(attributes)});
    return out;
  }
  void output(ValueId id) { graph.outputs.push_back(id); }
};

inline Attribute ints(std::string name, std::vector<std::int64_t> values) {
  return {.name = std::move(name), .value = std::move(values)};
}
inline Attribute integer(std::string name, std::int64_t value) { return {.name = std::move(name), .value = value}; }

/// [1,8,10,10] -> Conv 3x3 -> Add -> Relu -> MaxPool -> Conv 1x1: outputs [1,24,5,5] and the pooled [1,16,5,5].
/// The weights are larger than what stays inside a model.
inline Graph conv_net() {
  GraphMaker maker;
  const ValueId x = maker.input("x", f32({1, 8, 10, 10}));
  const ValueId w = maker.constant("w", noise_tensor({16, 8, 3, 3}, 1));
  const ValueId b = maker.constant("b", noise_tensor({16}, 2));
  const ValueId a = maker.constant("a", noise_tensor({1, 16, 1, 1}, 3));
  const ValueId w2 = maker.constant("w2", noise_tensor({24, 16, 1, 1}, 4));
  const ValueId conv = maker.op("Conv", {x, w, b}, f32({1, 16, 10, 10}), {ints("pads", {1, 1, 1, 1})});
  const ValueId sum = maker.op("Add", {conv, a}, f32({1, 16, 10, 10}));
  const ValueId relu = maker.op("Relu", {sum}, f32({1, 16, 10, 10}));
  const ValueId pool =
      maker.op("MaxPool", {relu}, f32({1, 16, 5, 5}), {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
  const ValueId last = maker.op("Conv", {pool, w2}, f32({1, 24, 5, 5}));
  maker.output(last);
  maker.output(pool);
  return maker.graph;
}

/// [4,32] -> MatMul [32,48] -> LayerNormalization -> Gelu.
inline Graph token_net() {
  GraphMaker maker;
  const ValueId x = maker.input("tokens", f32({4, 32}));
  const ValueId w = maker.constant("weights", noise_tensor({32, 48}, 5));
  const ValueId scale = maker.constant("scale", noise_tensor({48}, 6));
  const ValueId bias = maker.constant("bias", noise_tensor({48}, 7));
  const ValueId mul = maker.op("MatMul", {x, w}, f32({4, 48}));
  const ValueId norm = maker.op("LayerNormalization", {mul, scale, bias}, f32({4, 48}));
  maker.output(maker.op("Gelu", {norm}, f32({4, 48})));
  return maker.graph;
}

/// One operator on one or more inputs, all of them computed values.
inline Graph single(const std::string& op_type, const std::vector<ValueType>& inputs, const ValueType& output,
                    const std::vector<Attribute>& attributes = {}, const std::string& domain = {}) {
  GraphMaker maker;
  if (!domain.empty()) maker.graph.opsets[domain] = 1;
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < inputs.size(); ++i) ids.push_back(maker.input("in" + std::to_string(i), inputs[i]));
  maker.output(maker.op(op_type, ids, output, attributes, domain));
  return maker.graph;
}

inline Region whole(const Graph& graph) { return whole_region(graph, uses_of(graph)); }

inline Variant plain_variant(const Region& region) {
  return {.name = "default",
          .input_formats = std::vector<Format>(region.inputs.size()),
          .output_formats = std::vector<Format>(region.outputs.size())};
}

inline std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& ids,
                                  const std::vector<Format>& formats) {
  std::vector<Port> ports;
  for (std::size_t i = 0; i < ids.size(); ++i)
    ports.push_back(
        {.name = graph.value(ids[i]).name, .type = graph.value(ids[i]).type, .place = {.format = formats[i]}});
  return ports;
}

inline LoadRequest load_request(const CompileRequest& request, const Artifact& artifact, int threads = 1) {
  LoadRequest load{.artifact = artifact, .constants = {}, .inputs = {}, .outputs = {}, .threads = threads};
  for (const ValueId id : artifact.constants) load.constants.push_back(*request.graph->value(id).constant);
  load.inputs = ports_of(*request.graph, request.region.inputs, request.variant.input_formats);
  load.outputs = ports_of(*request.graph, request.region.outputs, request.variant.output_formats);
  return load;
}

inline std::vector<std::byte> aligned_copy_in(const Tensor& tensor, const Format& format) {
  std::vector<std::byte> bytes(tensor.data.size());
  convert_common_format(tensor.value_type(), plain(), tensor.data.data(), format, bytes.data());
  return bytes;
}

/// A bound call over memory of its own.
struct BoundCall {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Call> call;
  std::vector<Port> ports;  ///< of the outputs

  /// The outputs as plain tensors.
  [[nodiscard]] std::vector<Tensor> tensors() {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < ports.size(); ++i) result.push_back(tensor(i));
    return result;
  }

 private:
  [[nodiscard]] Tensor tensor(std::size_t i) {
    const Port& port = ports[i];
    if (port.type.is_static()) {
      Buffer data = Buffer::make(outputs[i].size(), [&](std::span<std::byte> out) {
        convert_common_format(port.type, port.place.format, outputs[i].data(), plain(), out.data());
      });
      return {.type = port.type.element, .extents = port.type.extents(), .data = std::move(data), .strings = {}};
    }
    const Result<DynamicOutput> made = call->dynamic_output(i);
    EXPECT_TRUE(made.has_value()) << to_string(made.error());
    if (!made) return {};
    const auto* bytes = static_cast<const std::byte*>(made->data);
    return {.type = made->type,
            .extents = made->extents,
            .data = Buffer::copy_of({bytes, byte_count(made->type, made->extents)}),
            .strings = {}};
  }
};

inline Result<BoundCall> bind_artifact(Backend& backend, const CompileRequest& request, const Artifact& artifact,
                                       const std::vector<Tensor>& inputs, int threads = 1) {
  BoundCall bound;
  const LoadRequest load = load_request(request, artifact, threads);
  COLLAGE_TRY(bound.kernel, backend.load(load));
  bound.ports = load.outputs;
  Buffers buffers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    bound.inputs.push_back(aligned_copy_in(inputs[i], request.variant.input_formats[i]));
    buffers.inputs.push_back(bound.inputs.back().data());
  }
  for (const Port& port : load.outputs) {
    const bool is_static = port.type.is_static();
    bound.outputs.emplace_back(is_static ? byte_count(port.type.element, port.type.extents()) : 0);
    buffers.outputs.push_back(is_static ? bound.outputs.back().data() : nullptr);
  }
  COLLAGE_TRY(bound.call, bound.kernel->bind(buffers));
  return bound;
}

/// Compiles, loads, binds and runs a request. A refusal comes back as an error with the refusal's detail.
inline Result<std::vector<Tensor>> run_request(Backend& backend, const CompileRequest& request,
                                               const std::vector<Tensor>& inputs, const CompileOptions& options = {}) {
  const auto compiled = backend.compile({&request, 1}, options);
  if (!compiled[0])
    return fail(ExitCode::kUnsupported, "test/refused", std::string(name_of(compiled[0].error().reason)),
                compiled[0].error().detail);
  COLLAGE_TRY(BoundCall bound, bind_artifact(backend, request, *compiled[0], inputs, options.threads));
  COLLAGE_TRY_VOID(bound.call->run());
  return bound.tensors();
}

inline Result<std::vector<Tensor>> run_graph(Backend& backend, const Graph& graph, const std::vector<Tensor>& inputs) {
  const Region region = whole(graph);
  return run_request(backend, {.graph = &graph, .region = region, .variant = plain_variant(region), .model_bytes = {}},
                     inputs);
}

/// Largest |a - b| of two f32 tensors; infinite when their types or extents differ.
inline double distance(const Tensor& a, const Tensor& b) {
  if (a.type != b.type || a.extents != b.extents) return INFINITY;
  const auto x = floats_of(a);
  const auto y = floats_of(b);
  if (!x || !y) return a.data == b.data ? 0.0 : INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < x->size(); ++i) {
    const double difference = std::abs((*x)[i] - (*y)[i]);
    if (std::isnan(difference)) return INFINITY;
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace collage::testing
