// Realises a cover as a plan: assigns bytes to every value and puts the steps in order.
//
// In:  the simplified graph, a cover of it, the compiled artifact of each step.
// Out: the plan and the bytes it refers to (constants, artifacts): all that the runtime or the plan file needs.
//
// There is one plan value for every graph value and place. Values share bytes where possible:
// - A view shares the bytes of its input. The parts of a concatenation that is a view lie inside the whole, so their
//   producers write there directly (plan/blocks.h); a part that already lies elsewhere is copied.
// - An output that an artifact computes in place shares its input's bytes.
// - The storage that holds a model output is that output's buffer. A model input or constant that is also an output,
//   and a value that is two outputs, get a copy step at the end.
// - Everything else lies in one arena for each location (plan/memory.h).
// Bodies of control steps are realised in the same way, each with an arena inside its step's workspace; their constants
// belong to the plan.
//
// Not here: choosing the cover (search/), compiling (backends), timing (timing/).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "plan/realised_plan.h"
#include "region/cover.h"

namespace collage {

struct RealiseRequest {
  const Graph* graph = nullptr;
  const Cover* cover = nullptr;
  /// One per cover step, null where has_artifact() says no; a control step's is followed by those of its bodies' steps.
  std::vector<const Artifact*> artifacts;
  /// Bytes of a static tensor in a backend's named format; the common formats are computed here.
  std::function<Result<std::size_t>(const ValueType&, const Format&)> format_bytes;
  /// The host backend's conversion kernel; asked for copies (from == to == plain) only, and only when one is needed.
  std::function<Result<Artifact>(const Conversion&)> copy_artifact;
  std::vector<ValueId> kept_constants;  ///< placed in weights.bin also when no step reads them
  bool is_body = false;                 ///< its inputs may be open: the step around it gives them during the run
  Plan header;  ///< everything the realiser does not compute; values, steps, artifacts and sizes are overwritten
};

/// The steps of a plan, or of a body, that its cover has, in order: those without a node that copy a value as it is
/// were added by realise().
[[nodiscard]] std::vector<std::size_t> cover_steps(const PlanBody& plan);

/// Places the constants of bodies, at any depth, where the constants around them lie whose bytes they are.
void share_constants_with_bodies(PlanBody& around);

/// Errors: plan/bad-cover (a step reads what no earlier step made, a port count differs, a model output is not made in
/// the plain format, a control step that refuse_bodies() refuses), plan/dynamic-value (a step reads a value of unknown
/// rank), and those of the functions given.
[[nodiscard]] Result<RealisedPlan> realise(const RealiseRequest& request);

}  // namespace collage
