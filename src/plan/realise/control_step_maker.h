// Makes the plan step of an If, Loop or Scan, which contains its bodies. Internal to src/plan.
// In:  the cover's step, the artifacts of its bodies' steps. Out: a step of the draft; the bodies' constants and
//       artifacts belong to the plan.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "plan/realise/plan_draft.h"

namespace collage {

/// realise() for a body: constants have no place in weights.bin yet, and nothing is verified.
[[nodiscard]] Result<RealisedPlan> realise_body_of(const RealiseRequest& request);

class ControlStepMaker {
 public:
  /// The draft outlives it.
  explicit ControlStepMaker(PlanDraft& draft) : draft_(draft), graph_(draft.graph()) {}

  /// Takes the artifacts of the bodies' steps from the front of `artifacts`. Errors of realise().
  [[nodiscard]] Result<void> add(const CoverStep& from, std::span<const Artifact* const>& artifacts);

 private:
  [[nodiscard]] Result<std::vector<PlanIndex>> operands_of(PlanStep& step, const Node& node, std::size_t index);
  [[nodiscard]] Result<PlanIndex> read_operand(PlanStep& step, ValueId id, std::size_t index);
  [[nodiscard]] Result<RealisedPlan> realise_body(const Graph& body, const Cover& cover,
                                                  std::span<const Artifact* const> artifacts) const;
  /// A realised body as the step's next one; its constants and artifacts become the plan's.
  void adopt(PlanControl& control, const Node& node, RealisedPlan body);
  /// The plan's constant for a body's: one that is there already, or a new one.
  PlanIndex constant_with_bytes_of(const Tensor& tensor, const Node& node, std::string name);

  PlanDraft& draft_;
  const Graph& graph_;
};

}  // namespace collage
