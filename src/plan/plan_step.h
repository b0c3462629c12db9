// A step of a plan: what every step has, and by its kind what runs in it. Values are named by their place in the list
// of the model or body around the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/operand_conditions.h"
#include "region/place.h"

namespace collage {

using PlanIndex = std::uint32_t;
/// Stands for an operand or result that is left out.
inline constexpr PlanIndex kNoValue = std::numeric_limits<PlanIndex>::max();

enum class ControlOperator : std::uint8_t { kIf, kLoop, kScan };

/// Which slice of a tensor belongs to iteration i: number i along an axis, or number i from the end.
struct Slicing {
  std::uint32_t axis = 0;
  bool reverse = false;
  bool operator==(const Slicing&) const = default;
};

/// A control-flow operator of ONNX as a step runs it. The ports of its bodies are those of the operator.
struct ControlForm {
  ControlOperator op = ControlOperator::kIf;
  std::vector<PlanIndex> operands;    ///< the node's inputs in order; kNoValue when omitted
  std::vector<PlanIndex> results;     ///< the node's outputs in order; kNoValue when nobody asked for one
  std::vector<Slicing> scan_inputs;   ///< of the last operands (Scan)
  std::vector<Slicing> scan_outputs;  ///< of the last results (Loop, Scan)
  bool operator==(const ControlForm&) const = default;
};

/// What a session looks at before it runs a step: the kernel behind it computes nonsense, or dies, where it does not
/// hold. The value is at home.
struct PlanCheck {
  OperandRule rule = OperandRule::kRange;
  PlanIndex value = kNoValue;        ///< an input of the step, or a constant
  PlanIndex dividend = kNoValue;     ///< kNoOverflow: likewise; what `value` divides
  std::vector<OperandRange> ranges;  ///< kRange: of element i number i modulo their count
  std::string op_type;               ///< of the node that asks
  std::string node;
  bool operator==(const PlanCheck&) const = default;
};

/// The graph's nodes that a step computes.
struct StepNodes {
  std::vector<std::string> names;
  std::vector<std::string> repeated;  ///< of these, the ones that another step computes for everybody else
  std::string structure;              ///< structure_key() of their region: what the step was chosen for
  bool operator==(const StepNodes&) const = default;
};

/// Scratch of a step in the arena of its location.
struct Workspace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  bool operator==(const Workspace&) const = default;
};

/// What a backend loads for a step.
struct StepArtifact {
  std::string hash;   ///< of its contents
  std::string entry;  ///< which kernel of a linked artifact (backend/extensions/link_extension.h), else ""
  std::vector<PlanIndex> constants;  ///< plan constants it is loaded with, in its order
  Workspace workspace;
  bool operator==(const StepArtifact&) const = default;
};

struct PlanBody;

// What a step does. kKind is its name in text and JSON.

/// A backend's kernel computes nodes.
struct PlanKernel {
  static constexpr std::string_view kKind = "kernel";
  std::string location = kHome;  ///< where it runs; its ports and workspace lie there
  StepNodes nodes;
  StepArtifact artifact;
  std::vector<PlanCheck> checks;  ///< before it runs
  bool operator==(const PlanKernel&) const = default;
};

/// A backend's kernel brings a value to another format, or copies it.
struct PlanConversion {
  static constexpr std::string_view kKind = "convert";
  std::string location = kHome;
  StepArtifact artifact;
  bool operator==(const PlanConversion&) const = default;
};

/// A device moves a value between home and its own memory.
struct PlanTransfer {
  static constexpr std::string_view kKind = "transfer";
  bool operator==(const PlanTransfer&) const = default;
};

/// Outputs share the bytes of the input: nothing runs.
struct PlanView {
  static constexpr std::string_view kKind = "view";
  std::string location = kHome;
  StepNodes nodes;  ///< none when the view is the same value in another format
  bool operator==(const PlanView&) const = default;
};

/// An If, Loop or Scan, at home, whose bodies have steps of their own.
struct PlanControl {
  static constexpr std::string_view kKind = "control";
  StepNodes nodes;  ///< the operator alone
  ControlForm form;
  std::vector<PlanBody> bodies;  ///< of an If: else_branch, then_branch
  Workspace workspace;           ///< the bodies' arenas, and their ports that are no values around them
  bool operator==(const PlanControl&) const;
};

struct PlanStep {
  using Work = std::variant<PlanKernel, PlanConversion, PlanTransfer, PlanView, PlanControl>;

  std::string backend;
  std::string variant;
  Work work;
  std::vector<PlanIndex> inputs;  ///< plan values
  std::vector<PlanIndex> outputs;
  std::int64_t cost_ns = 0;  ///< median measured alone; 0 for views and for copies, which nobody prices
  std::int64_t cost_low_ns = 0;
  std::int64_t cost_high_ns = 0;
  bool is_estimated = false;  ///< the cost is the shortest of a few runs, or a forecast
  std::string runner_up;
  bool operator==(const PlanStep&) const;
};

/// In text and JSON: kernel, convert, transfer, view, control.
[[nodiscard]] std::string_view kind_name(const PlanStep& step);
[[nodiscard]] inline bool is_kernel(const PlanStep& step) { return std::holds_alternative<PlanKernel>(step.work); }
[[nodiscard]] inline bool is_conversion(const PlanStep& step) {
  return std::holds_alternative<PlanConversion>(step.work);
}
[[nodiscard]] inline bool is_transfer(const PlanStep& step) { return std::holds_alternative<PlanTransfer>(step.work); }
[[nodiscard]] inline bool is_view(const PlanStep& step) { return std::holds_alternative<PlanView>(step.work); }
/// Whether a backend, or its device, does something in the step.
[[nodiscard]] bool needs_backend(const PlanStep& step);

/// Empty for conversions, transfers and views without nodes.
[[nodiscard]] const StepNodes& nodes_of(const PlanStep& step);
/// Null for conversions and transfers.
[[nodiscard]] StepNodes* nodes_in(PlanStep& step);
/// Where the step runs and its workspace lies; home for a transfer, which joins two locations.
[[nodiscard]] const std::string& location_of(const PlanStep& step);
/// What is loaded for a kernel or a conversion; null for other steps.
[[nodiscard]] const StepArtifact* artifact_of(const PlanStep& step);
[[nodiscard]] StepArtifact* artifact_of(PlanStep& step);
/// Of no bytes for transfers and views.
[[nodiscard]] Workspace workspace_of(const PlanStep& step);
/// Null for transfers and views.
[[nodiscard]] Workspace* workspace_in(PlanStep& step);
/// None but for kernels.
[[nodiscard]] const std::vector<PlanCheck>& checks_of(const PlanStep& step);
/// One for each body of a control step, none for other steps.
[[nodiscard]] const std::vector<PlanBody>& bodies_of(const PlanStep& step);

}  // namespace collage
