// Finds the model from which a plan was made: the path stored in the plan, the user's path, or plan.onnx inside the
// plan.
// In:  a plan, perhaps a path. Out: the graph, the bytes, a note. Cost: one import.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/registry.h"
#include "onnx/import.h"
#include "plan/file/plan_file.h"
#include "sandbox/model_reader.h"

namespace collage {

struct SourceModel {
  Graph graph;                      ///< as imported
  std::string bound_model;          ///< what rivals run; empty: more weights than a message holds
  std::optional<std::string> note;  ///< present when plan.onnx is used instead

  /// The bytes for an engine; nothing where it is given `graph` instead.
  [[nodiscard]] std::optional<std::string_view> model_bytes() const {
    return bound_model.empty() ? std::nullopt : std::optional<std::string_view>(bound_model);
  }
};

/// The file at `model` must be the plan's model: errors import/*, plan/other-model. If no path is given and the
/// original model has moved, cannot be read, came through a pipe, or has other contents or weights, plan.onnx is used
/// instead; the note says why.
[[nodiscard]] Result<SourceModel> find_source_model(const RealisedPlan& plan, const std::optional<std::string>& model,
                                                    Registry& registry, const ModelReader& reader = {});

enum class PlanWeights : std::uint8_t {
  kAll,
  kZeros  ///< large constants are zeros, if only the graph's structure is needed: nothing is copied
};

/// plan.onnx as a graph.
[[nodiscard]] Result<Graph> plan_onnx_graph(const RealisedPlan& plan, PlanWeights weights = PlanWeights::kAll);

}  // namespace collage
