// A plan of many shapes made by hand: x f32[n,4] -> Add(w) -> y, n = 1..16, with steps of a backend that takes open
// shapes too.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/open_kernel.h"
#include "onnx/export.h"
#include "onnx/relocate.h"
#include "plan/plan_cases.h"
#include "plan/realise.h"
#include "tests/support/find_value.h"
#include "tests/support/load_only_backend.h"

namespace collage::test {

inline constexpr std::size_t kCaseWidth = 4;

/// y = x + w, with n rows; `rows` < 0 leaves n open.
inline Graph added_rows(std::int64_t rows) {
  Graph graph;
  graph.name = "rows";
  graph.opsets = {{"", 26}};
  const Dim first = rows < 0 ? Dim{.extent = -1, .symbol = "n"} : Dim{.extent = rows, .symbol = {}};
  ValueType type = ValueType::tensor(ElementType::kFloat32, {1, kCaseWidth});
  type.shape->front() = first;
  const ValueId x = add_value(graph, "x", type);
  graph.inputs = {x};
  std::vector<float> weights(1024);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % kCaseWidth) + 1;
  const ValueId w = add_constant(graph, "w", make_tensor<float>(ElementType::kFloat32, {256, kCaseWidth}, weights));
  const ValueId y = add_value(graph, "y", type);
  add_node(graph, {.name = "add", .domain = "", .op_type = "Add", .inputs = {x, w}, .outputs = {y}});
  graph.outputs = {y};
  return graph;
}

/// The plan of one step of backend "rows".
inline RealisedPlan plan_of_rows(std::int64_t rows) {
  const Graph graph = added_rows(rows);
  NodeSet nodes(1);
  nodes.insert(0);
  const Region region = make_region(graph, uses_of(graph), nodes);
  const Variant variant{"direct", {plain()}, {plain()}};
  const Cover cover{.steps = {{.backend = "rows", .work = CoverKernel{region, variant}}}, .cost_ns = 0};
  const Artifact artifact{.bytes = rows < 0 ? "open" : "rows " + std::to_string(rows),
                          .compatibility = "1",
                          .constants = region.constants,
                          .in_place = {},
                          .workspace_bytes = static_cast<std::size_t>(std::max<std::int64_t>(rows, 0)) * 64};
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &cover;
  request.artifacts = {&artifact};
  request.kept_constants = region.constants;
  request.header.model_path = "rows.onnx";
  request.header.model_hash = "abc";
  request.header.backends = {{"rows", "1", "1"}};
  RealisedPlan plan = realise(request).value();
  ExportOptions options;
  options.keep_ids = false;
  options.external = [&](ValueId id) -> std::optional<ExternalLocation> {
    const auto value = find_value(plan.plan, graph.value(id).name, plain());
    return ExternalLocation{.file = "weights.bin", .offset = plan.plan.values[value.value()].offset};
  };
  const std::string onnx = export_graph(graph, options);
  plan.onnx = Buffer::copy_of(std::as_bytes(std::span(onnx)));
  return plan;
}

/// Cases at the points given, a generic plan when asked for; weights not yet shared.
inline PlanCases rows_cases(const std::vector<std::int64_t>& points, bool has_generic) {
  PlanCases cases{.domain = {{{"n", 1, 16}}}};
  const Graph open = added_rows(-1);
  cases.inputs = {{"x", open.value(open.inputs.front()).type}};
  for (const std::int64_t point : points)
    cases.cases.push_back(
        {.point = {point}, .weight = 1, .measured_us = 10, .generic_us = 20, .plan = plan_of_rows(point)});
  if (has_generic) cases.generic = plan_of_rows(-1);
  return cases;
}

/// Adds the first row of w to each row; counts what it loads and which rows its calls were bound to.
class RowsBackend final : public LoadOnlyBackend {
 public:
  RowsBackend() : LoadOnlyBackend({.name = "rows", .kind = "rows", .version = "1", .build = "1"}) {}

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    loaded.emplace_back(request.artifact.bytes);
    return std::make_unique<RowsKernel>(request);
  }

  std::vector<std::string> loaded;  ///< bytes of the artifacts, in order

 private:
  struct RowsCall final : Call {
    Result<void> run() override {
      for (std::size_t i = 0; i < rows * kCaseWidth; ++i) to[i] = from[i] + weights[i % kCaseWidth];
      if (scratch != nullptr) std::memset(scratch, 0x5a, scratch_bytes);
      return {};
    }
    Result<DynamicOutput> dynamic_output(std::size_t) override {
      return DynamicOutput{ElementType::kFloat32, {static_cast<std::int64_t>(rows), kCaseWidth}, to};
    }
    std::size_t rows = 0;
    const float* from = nullptr;
    const float* weights = nullptr;
    float* to = nullptr;
    void* scratch = nullptr;
    std::size_t scratch_bytes = 0;
    std::vector<float> own;
  };

  struct RowsKernel final : OpenKernel {
    explicit RowsKernel(const LoadRequest& request)
        : type(request.inputs.front().type),
          weights(request.constants.front()),
          workspace(request.artifact.workspace_bytes) {}
    [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
      const Extents extents = type.extents();
      return bind_at(buffers, {&extents, 1});
    }
    [[nodiscard]] Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                        std::span<const Extents> inputs) const override {
      auto call = std::make_unique<RowsCall>();
      call->rows = static_cast<std::size_t>(inputs.front().front());
      call->from = static_cast<const float*>(buffers.inputs.front());
      call->weights = weights.data.as<float>().data();
      call->to = static_cast<float*>(buffers.outputs.front());
      call->own.resize(call->rows * kCaseWidth);
      if (call->to == nullptr) call->to = call->own.data();
      call->scratch = buffers.workspace;
      call->scratch_bytes = buffers.workspace == nullptr ? 0 : workspace;
      return call;
    }
    ValueType type;
    Tensor weights;
    std::size_t workspace;
  };
};

}  // namespace collage::test
