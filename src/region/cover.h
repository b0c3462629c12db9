// A cover: the steps that compute a whole graph, in execution order: candidates that cover every node, and the
// conversions between them. A control-flow operator whose bodies are placed separately is one step, which holds a cover
// for each body.
// In:  the result of a search. Out: steps that are realised one by one (plan/realise.h).
// Cost: memory linear in the number of steps.
// Source: the optimal partitioning of TVM's RFC 62. Differs: conversions are steps, and bodies have covers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "region/cost.h"
#include "region/place.h"
#include "region/region.h"
#include "region/variant.h"

namespace collage {

enum class StepKind : std::uint8_t {
  kKernel,    ///< a backend runs a region
  kConvert,   ///< a value gets another format
  kTransfer,  ///< a value goes to another location, in the same format
  kView,      ///< outputs share the bytes of the input: nothing runs
  kControl    ///< an If, Loop or Scan whose bodies have steps of their own
};

/// In text and JSON: kernel, convert, transfer, view, control.
[[nodiscard]] constexpr std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kKernel:
      return "kernel";
    case StepKind::kConvert:
      return "convert";
    case StepKind::kTransfer:
      return "transfer";
    case StepKind::kView:
      return "view";
    case StepKind::kControl:
      return "control";
  }
  return "?";
}

/// Whether a backend's kernel runs: the step has an artifact.
[[nodiscard]] constexpr bool has_artifact(StepKind kind) {
  return kind == StepKind::kKernel || kind == StepKind::kConvert;
}

/// Whether a step only brings one value to another format or location.
[[nodiscard]] constexpr bool is_boundary(StepKind kind) {
  return kind == StepKind::kConvert || kind == StepKind::kTransfer;
}

/// Whether a backend, or its device, does something in the step.
[[nodiscard]] constexpr bool needs_backend(StepKind kind) { return has_artifact(kind) || kind == StepKind::kTransfer; }

/// The backend name in candidates and steps of kind kControl: no library runs the operator itself.
inline constexpr std::string_view kControlBackend = "bodies";

struct Cover;

struct CoverStep {
  StepKind kind = StepKind::kKernel;
  std::string backend;  ///< instance name; the host's for views; kControlBackend for control steps
  Region region;        ///< kernel and view steps (a format-only view has no nodes)
  Variant variant;
  std::string location = kHome;  ///< where a kernel runs
  ValueId value;                 ///< convert and transfer steps, and views that only rename a format: the value
  Place from;                    ///< of that value
  Place to;                      ///< likewise
  Cost cost;
  std::string runner_up;  ///< "backend/variant +12%"; empty when there was no other
  /// Control steps: one per body, of the graphs that free_bodies() gives (plan/control.h). The search leaves them
  /// empty.
  std::vector<Cover> bodies;
};

struct Cover {
  std::vector<CoverStep> steps;  ///< every input of a step is made by an earlier step or is a graph input
  std::int64_t cost_ns = 0;
};

/// Steps of a cover with those inside its bodies.
[[nodiscard]] inline std::size_t step_count(const Cover& cover) {
  std::size_t count = cover.steps.size();
  for (const CoverStep& step : cover.steps)
    for (const Cover& body : step.bodies) count += step_count(body);
  return count;
}

}  // namespace collage
