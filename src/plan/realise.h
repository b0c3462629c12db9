// Turns a cover into a plan: which bytes every value occupies, in which order the steps run on them.
// In:  the simplified graph, a cover of it, the compiled artifact of each step.
// Out: the plan and the bytes it names (constants, artifacts): all that a session or the plan file needs.
// How: one plan value for every (value, format). Views share the bytes of their input, the parts of a concatenation
// that
//      is a view those of the whole, so that their producers write there directly (plan/blocks.h); a part that cannot,
//      because it is nobody's result or lies elsewhere already, is copied. Permitted in-place outputs follow their
//      input;
//      the storage that holds a model output becomes that output's buffer, so that its producer writes there directly;
//      what cannot (a model input or constant passed through, a value that is two outputs) gets a copy step at the end;
//      everything else shares one arena for each location (plan/memory.h). Bodies of control steps are realised alike,
//      each with an arena that lies in its step's workspace; their constants are the plan's.
// Not here: choosing the cover (search/), compiling (backends), timing (measure/).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "plan/realised_plan.h"

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
  Plan header;  ///< everything the realiser does not compute; values, steps, artifacts and sizes are overwritten
};

/// The steps of a plan, or of a body, that its cover has, in order: those without a node that copy a value as it is
/// were added by realise().
[[nodiscard]] std::vector<std::size_t> cover_steps(const PlanBody& plan);

/// Errors: plan/bad-cover (a step reads what no earlier step made, a port count differs, a model output is not made in
/// the plain format, a control step that refuse_bodies() refuses), plan/dynamic-value (a step reads a value of unknown
/// shape, or a body gives one), and those of the functions given.
[[nodiscard]] Result<RealisedPlan> realise(const RealiseRequest& request);

}  // namespace collage
