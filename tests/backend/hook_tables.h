// Graphs and tables of hooks for the tests of out-of-tree backends.
#pragma once

#include <stdexcept>

#include "backend/function_kernel.h"
#include "backend/hooked_backend.h"
#include "tests/support/graph_builder.h"

namespace collage::test {

/// x -> Relu -> Neg -> y, four numbers each.
struct Chain {
  Graph graph;
  Region relu;
  Region neg;
  Region both;
};

inline Chain chain() {
  testing_support::GraphBuilder builder({4});
  const ValueId x = builder.input("x");
  const ValueId r = builder.add("Relu", {x});
  Chain made{.graph = builder.take({builder.add("Neg", {r})})};
  const Uses uses = uses_of(made.graph);
  made.relu = make_region(made.graph, uses, node_set(made.graph, {0}));
  made.neg = make_region(made.graph, uses, node_set(made.graph, {1}));
  made.both = whole_region(made.graph, uses);
  return made;
}

inline CompileRequest request_for(const Chain& chain, const Region& region) {
  return {.graph = &chain.graph, .region = region, .variant = {"default", {plain()}, {plain()}}, .model_bytes = {}};
}

// ---- hooks that do as little as a hook may ----

using MaybeArtifacts = std::vector<std::expected<Artifact, Refusal>>;
using MaybeCodes = std::vector<std::expected<TensorCode, Refusal>>;

inline PartitionRules relu_rules(const BackendOptions&) { return {.patterns = {{"relu", "Relu"}}}; }
inline MaybeArtifacts compile_each(const BackendOptions&, std::span<const CompileRequest> requests,
                                   const CompileOptions&) {
  return {requests.size(), Artifact{.bytes = "compiled"}};
}
inline Result<std::unique_ptr<Kernel>> load_one(const BackendOptions&, const LoadRequest&) {
  return make_kernel([](const Buffers&) -> Result<void> { return {}; });
}
/// One row of four numbers in, one out.
inline TensorCode row_code() {
  return {.pipeline = "bytes",
          .parameters = {"x"},
          .arguments = {dense_argument(ArgumentKind::kInput, 0, ElementType::kFloat32, {4}),
                        dense_argument(ArgumentKind::kOutput, 0, ElementType::kFloat32, {4})},
          .constants = {},
          .libraries = {}};
}
inline MaybeCodes lower_each(const BackendOptions&, std::span<const CompileRequest> requests, const CompileOptions&) {
  return {requests.size(), row_code()};
}
inline MaybeArtifacts codegen_each(const BackendOptions&, std::span<const TensorCode> codes, const CompileOptions&) {
  return {codes.size(), Artifact{.bytes = "generated"}};
}

inline BackendHooks compiling() {
  return {.kind = "fake", .rules = relu_rules, .compile = compile_each, .load = load_one};
}

inline std::unique_ptr<Backend> instance_of(const BackendHooks& hooks, Result<Backend*> code_generator = nullptr) {
  return make_hooked_backend(hooks, {.name = "fake", .options = {}, .build = "b1"}, std::move(code_generator));
}

}  // namespace collage::test
