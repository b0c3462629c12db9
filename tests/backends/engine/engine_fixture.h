// Helpers for tests of the engine backends: small graphs, and a region run from plain tensors to plain tensors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/variant_runner.h"

namespace collage::testing {

/// One for all tests of a process: making an engine's instance takes longer than most of them.
inline Registry& test_registry() {
  static Registry registry({test::build_path("/lib/collage")});
  return registry;
}

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

using test::plain_variant;
using test::region_of;

inline LoadRequest load_request(const CompileRequest& request, const Artifact& artifact, int threads = 1) {
  return test::request_of(*request.graph, request.region, request.variant, artifact, threads);
}

struct BoundArtifact {
  std::unique_ptr<Kernel> kernel;
  test::BoundKernel bound;
};

inline Result<BoundArtifact> bind_artifact(Backend& backend, const CompileRequest& request, const Artifact& artifact,
                                           const std::vector<Tensor>& inputs, int threads = 1) {
  const LoadRequest load = load_request(request, artifact, threads);
  COLLAGE_TRY(std::unique_ptr<Kernel> kernel, backend.load(load));
  COLLAGE_TRY(test::BoundKernel bound, test::BoundKernel::create(*kernel, load, inputs, test::converter()));
  return BoundArtifact{.kernel = std::move(kernel), .bound = std::move(bound)};
}

/// Compiles, loads, binds and runs a request. A refusal comes back as an error with the refusal's detail.
inline Result<std::vector<Tensor>> run_request(Backend& backend, const CompileRequest& request,
                                               const std::vector<Tensor>& inputs, const CompileOptions& options = {}) {
  const auto compiled = backend.compile({&request, 1}, options);
  if (!compiled[0])
    return fail(ExitCode::kUnsupported, "test/refused", std::string(name_of(compiled[0].error().reason)),
                compiled[0].error().detail);
  COLLAGE_TRY(BoundArtifact loaded, bind_artifact(backend, request, *compiled[0], inputs, options.threads));
  return loaded.bound.run();
}

inline Result<std::vector<Tensor>> run_graph(Backend& backend, const Graph& graph, const std::vector<Tensor>& inputs) {
  const Region region = region_of(graph);
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
