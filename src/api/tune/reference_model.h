// Runs the reference on the user's model: what its outputs are, and what rounding inside of the model leaves open.
// The reference is the reference engine (backend/roles.h) on the user's own bytes, without graph optimisation, on one
// thread.
// Cost: loading; for each set of inputs one run, two for a model with quantisers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/tune/source_model.h"
#include "backend/registry.h"
#include "tune/confirm/whole_model.h"

namespace collage {

/// The outputs of the reference in the graph's order.
struct ReferenceOutputs {
  std::vector<Tensor> tensors;
  std::vector<double> slacks;  ///< by output: rounding_slack()
};

class ReferenceModel {
 public:
  /// On the user's own bytes; where the reference refuses them on the imported graph, which a note says. The registry
  /// outlives it.
  [[nodiscard]] static Result<ReferenceModel> create(Registry& registry, const SourceModel& source,
                                                     std::vector<std::string>& notes);
  /// Inputs fit the graph's in number, type and shape.
  [[nodiscard]] Result<ReferenceOutputs> run(const std::vector<Tensor>& inputs);

 private:
  explicit ReferenceModel(WholeModel model) : model_(std::move(model)) {}

  WholeModel model_;
  std::optional<WholeModel> nudged_;  ///< of a model with quantisers
  std::vector<bool> is_rounded_;      ///< by output: is_after_quantiser()
};

}  // namespace collage
