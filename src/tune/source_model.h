// The model a plan was made of, found again: where the plan says, where the user says, or plan.onnx inside the plan.
// In: a plan, perhaps a path. Out: the graph, the bytes, a note.
// Cost: one import.
// Source: ours.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "onnx/import.h"
#include "plan/plan_file.h"

namespace collage {

struct SourceModel {
  Graph graph;                      ///< as imported
  std::string bound_model;          ///< what rivals run
  std::optional<std::string> note;  ///< said when plan.onnx had to stand in
};

/// Error import/* of the model; plan/other-model when the file's contents are not those the plan was made of.
[[nodiscard]] Result<SourceModel> find_source_model(const RealisedPlan& plan, const std::optional<std::string>& model,
                                                    Registry& registry);

enum class PlanWeights : std::uint8_t {
  kAll,
  kZeros  ///< large constants are zeros, for who needs the graph's form only: nothing is copied
};

/// plan.onnx as a graph.
[[nodiscard]] Result<Graph> plan_onnx_graph(const RealisedPlan& plan, PlanWeights weights = PlanWeights::kAll);

}  // namespace collage
