// Makes plan steps from cover steps: kernels, conversions, transfers and views. Internal to src/plan.
// In:  a step of the cover, its artifact. Out: a step of the draft that reads and writes plan values.
// How: a view writes nothing; its outputs are bytes of its input. A concatenation that is a view is produced by the
//       steps that write its parts: each part is placed inside the whole, or copied there.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/operand_conditions.h"
#include "plan/realise/plan_draft.h"
#include "region/containment.h"

namespace collage {

/// The median of a measured cost with its interval; a forecast counts as its own interval.
void set_cost(PlanStep& step, const Cost& cost);

class StepMaker {
 public:
  /// The draft outlives it.
  explicit StepMaker(PlanDraft& draft)
      : draft_(draft), graph_(draft.graph()), conditions_(open_conditions(draft.graph())) {}

  /// No control steps. `artifact` is null where has_artifact() says no. Errors of realise().
  [[nodiscard]] Result<void> add(const CoverStep& from, const Artifact* artifact);

 private:
  [[nodiscard]] Result<void> add_move(PlanStep step, const CoverStep& from, const ValueMove& move,
                                      const Artifact* artifact);
  [[nodiscard]] Result<void> add_kernel(PlanStep step, const CoverKernel& from, const Artifact& artifact);
  [[nodiscard]] Result<void> add_view(PlanStep step, const CoverView& from);
  [[nodiscard]] Result<void> add_inputs(PlanStep& step, const Region& region, const Variant& variant,
                                        const std::string& location);
  [[nodiscard]] Result<void> add_outputs(PlanStep& step, const Region& region, const Variant& variant,
                                         const std::string& location);
  /// Checks of operands that enter the region; those inside it were settled when the backend got the region.
  [[nodiscard]] Result<std::vector<PlanCheck>> checks_at(const PlanStep& step, const Region& region);
  [[nodiscard]] Result<PlanIndex> checked_value(const PlanStep& step, const Region& region, ValueId id);
  /// A view shows its node's first input; a computed shape operand is read by nobody.
  [[nodiscard]] Result<void> keep_data_input(PlanStep& step, const Region& region);
  /// A view's outputs show the bytes of its input: all of them, or a part.
  [[nodiscard]] Result<void> show_outputs(const PlanStep& step, const Region& region,
                                          const std::optional<Containment>& containment);
  [[nodiscard]] Result<void> show_whole(PlanIndex output, PlanIndex input);
  [[nodiscard]] Result<void> add_concatenation(PlanStep step, const CoverView& from, const Containment& containment);
  /// Puts the parts at their places, or copies of them, which then stand for them in `parts`.
  [[nodiscard]] Result<void> place_parts(PlanIndex whole, std::vector<Blocks::Part>& parts);

  PlanDraft& draft_;
  const Graph& graph_;
  std::vector<OpenCondition> conditions_;
};

}  // namespace collage
