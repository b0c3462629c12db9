// A cover: the steps that compute a whole graph, in execution order: candidates that cover every node, and the
// conversions between them. A control-flow operator whose bodies are placed separately is one step, which holds a cover
// for each body.
// In:  the result of a search. Out: steps that are realised one by one (plan/realise.h).
// Cost: memory linear in the number of steps.
// Source: the optimal partitioning of TVM's RFC 62. Differs: conversions are steps, and bodies have covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "region/cost.h"
#include "region/place.h"
#include "region/region.h"
#include "region/variant.h"

namespace collage {

/// The backend name in candidates and steps with bodies: no library runs the operator itself.
inline constexpr std::string_view kControlBackend = "bodies";

struct Cover;

// What a step does. kKind is its name in text and JSON.

/// A backend runs a region.
struct CoverKernel {
  static constexpr std::string_view kKind = "kernel";
  Region region;
  Variant variant;
  std::string location = kHome;  ///< where it runs and its ports lie
};

/// A value gets another format where it lies.
struct CoverConversion {
  static constexpr std::string_view kKind = "convert";
  ValueId value;
  std::string location = kHome;
  Format from;
  Format to;
};

/// A value goes to another location, in the same format.
struct CoverTransfer {
  static constexpr std::string_view kKind = "transfer";
  ValueId value;
  Format format;
  std::string from = kHome;
  std::string to = kHome;
};

/// The outputs of a region share the bytes of its input: nothing runs.
struct CoverView {
  static constexpr std::string_view kKind = "view";
  Region region;
  Variant variant;
  std::string location = kHome;
};

/// A value has the same bytes in another format: nothing runs.
struct CoverRename {
  static constexpr std::string_view kKind = "view";
  ValueId value;
  std::string location = kHome;
  Format from;
  Format to;
};

/// An If, Loop or Scan, at home, whose bodies have steps of their own.
struct CoverControl {
  static constexpr std::string_view kKind = "control";
  Region region;  ///< that one node
  Variant variant;
  std::vector<Cover> bodies;  ///< of the graphs that free_bodies() gives (plan/control.h); the search leaves it empty
};

struct CoverStep {
  using Work = std::variant<CoverKernel, CoverConversion, CoverTransfer, CoverView, CoverRename, CoverControl>;

  std::string backend;  ///< instance name; the host's for views; kControlBackend for control steps
  Work work;
  Cost cost;
  std::string runner_up;  ///< "backend/variant +12%"; empty when there was no other
};

struct Cover {
  std::vector<CoverStep> steps;  ///< every input of a step is made by an earlier step or is a graph input
  std::int64_t cost_ns = 0;
};

/// A value and the places between which a step brings it.
struct ValueMove {
  ValueId value;
  Place from;
  Place to;
};

/// In text and JSON: kernel, convert, transfer, view, control.
[[nodiscard]] std::string_view kind_name(const CoverStep& step);
[[nodiscard]] inline bool is_kernel(const CoverStep& step) { return std::holds_alternative<CoverKernel>(step.work); }
/// Nothing runs.
[[nodiscard]] bool is_view(const CoverStep& step);
/// Whether a backend's kernel runs: the step has an artifact.
[[nodiscard]] bool has_artifact(const CoverStep& step);
/// Whether a backend, or its device, does something in the step.
[[nodiscard]] bool needs_backend(const CoverStep& step);

/// What the step does with nodes; null for one that only brings a value to another place.
[[nodiscard]] const Region* chosen_region(const CoverStep& step);
[[nodiscard]] const Variant* chosen_variant(const CoverStep& step);  ///< of that region; null likewise
/// Where the step runs; home for a transfer, which joins two locations.
[[nodiscard]] const std::string& location_of(const CoverStep& step);
/// Nothing for a step with a region.
[[nodiscard]] std::optional<ValueMove> move_of(const CoverStep& step);
/// One for each body of a control step, none for other steps.
[[nodiscard]] std::span<const Cover> bodies_of(const CoverStep& step);

/// Steps of a cover with those inside its bodies.
[[nodiscard]] std::size_t step_count(const Cover& cover);

}  // namespace collage
