// Shared by the tests of this folder: a scratch folder, small graphs, the worker program and a record made by hand.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "ir/graph.h"
#include "measure/jobs.h"
#include "numbers/graph_file.h"
#include "numbers/record.h"
#include "region/region.h"
#include "region/rules.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"
#include "worker/worker_process.h"

namespace collage::test {

inline std::vector<std::string> module_folders() { return {test::build_path("/tests/modules")}; }
inline std::vector<std::string> worker_command() {
  return {test::build_path("/tests/measure_worker"), module_folders()[0]};
}

inline Graph empty_graph() {
  Graph graph;
  graph.name = "test";
  graph.opsets = {{"", 26}};
  return graph;
}

inline ValueType f32_type(const Extents& extents) { return ValueType::tensor(ElementType::kFloat32, extents); }

inline ValueId add_op(Graph& graph, const std::string& op, std::vector<ValueId> inputs, const std::string& output) {
  const ValueId result = add_value(graph, output, graph.value(inputs[0]).type);
  add_node(graph, {.name = output + "_node",
                   .domain = "",
                   .op_type = op,
                   .inputs = std::move(inputs),
                   .outputs = {result},
                   .captures = {},
                   .attributes = {}});
  return result;
}

inline Tensor numbers(const Extents& extents, float scale) {
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * std::sin(static_cast<float>(i) + scale);
  return make_tensor<float>(ElementType::kFloat32, extents, values);
}

/// x -> Relu "r0" -> Relu "r1" -> Add(constant w) "s" -> Relu "y", on [2, 300]; r0 and r1 have the same structure.
inline Graph chain_graph() {
  Graph graph = empty_graph();
  const Extents extents = {2, 300};
  const ValueId x = add_value(graph, "x", f32_type(extents));
  graph.inputs = {x};
  const ValueId w = add_constant(graph, "w", numbers(extents, 2));
  const ValueId r0 = add_op(graph, "Relu", {x}, "r0");
  const ValueId r1 = add_op(graph, "Relu", {r0}, "r1");
  const ValueId s = add_op(graph, "Add", {r1, w}, "s");
  graph.outputs = {add_op(graph, "Relu", {s}, "y")};
  return graph;
}

inline Region region_of(const Graph& graph, const std::vector<std::size_t>& nodes) {
  NodeSet set(graph.nodes.size());
  for (const std::size_t node : nodes) set.insert(node);
  return make_region(graph, uses_of(graph), std::move(set));
}

inline Variant plain_variant(const Region& region, const std::string& name = "default") {
  return {.name = name,
          .input_formats = std::vector<Format>(region.inputs.size()),
          .output_formats = std::vector<Format>(region.outputs.size())};
}

/// Has `worker` do a record job. Error record/refused when the worker refuses or dies.
inline Result<void> record_in(WorkerProcess& worker, const RecordJob& job) {
  const std::chrono::seconds limit(60);
  const auto answer = worker.call(to_json(job), usual_allowance(limit, limit, limit));
  if (answer) return *answer ? Result<void>() : std::unexpected(answer->error());
  return fail(ExitCode::kUnsupported, "record/refused", job.backend, answer.error().refusal.detail,
              "a graph it runs as a whole");
}

}  // namespace collage::test
