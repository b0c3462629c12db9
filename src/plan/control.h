// Control-flow operators (ONNX If, Loop, Scan) whose bodies run as steps of their own.
// In:  an If, Loop or Scan of a graph. Out: its bodies as separate graphs; whether a plan can run it that way, or why
//       not; where the inputs and outputs of its bodies lie while it runs.
// How: memory of values whose shapes are known is laid out before the run. A body reads captured values, and writes
//       whole results, directly in the surrounding memory. Carried values are kept in the bytes of the result and are
//       copied there after each iteration. Slices go through the step's workspace.
//       Tensors of known rank with open extents may enter and leave bodies, too (Storage::kDynamic): captured values,
//       carried ones, which may grow, whole tensors that are sliced, results. They lie in memory of the calls that make
//       them, or of the control step's own call.
// Not here: choosing the bodies' steps (tune/), running them (runtime/).
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"
#include "region/refusal.h"

namespace collage {

/// An If, Loop or Scan of ai.onnx.
[[nodiscard]] std::optional<ControlOperator> control_operator_of(const Node& node);

/// The bodies of a control-flow node as separate graphs, in the order of bodies_of(). Captured values become inputs
/// after the formal ones, captured constants become constants, and formal inputs get the types of the node's operands.
/// Ids are those of the body.
[[nodiscard]] std::vector<Graph> free_bodies(const Graph& graph, const Node& node);

/// The graph with types for results of control-flow nodes that import left open and the bodies prove: both branches of
/// an If give one type; a Loop's body keeps the types of all carried values, and its trips are known where it stacks.
/// Where that proves no extent, but a rank, the result is open.
[[nodiscard]] Graph with_proven_results(Graph graph);

/// Captured values that are inputs of free_bodies()[body], as values of the outer graph, in order.
[[nodiscard]] std::vector<ValueId> captures_of(const Graph& graph, const Node& node, std::size_t body);

/// A tensor of either type: equal extents stay, others are left open. Nothing for two elements or ranks.
[[nodiscard]] std::optional<ValueType> joined_type(const ValueType& a, const ValueType& b);

/// Why no plan can run the node by its bodies; nothing when one can.
[[nodiscard]] std::optional<Refusal> refuse_bodies(const Graph& graph, const Node& node);

/// Iterations of a Loop or Scan where the graph alone says them: a Scan always, a Loop whose trip count is constant and
/// whose condition never turns false.
[[nodiscard]] std::optional<std::int64_t> known_trips(const Graph& graph, const Node& node);

/// A Loop that goes on until its trip count once its condition is true: the body does not make it false.
[[nodiscard]] bool keeps_condition(const Node& loop);

/// Axes and directions of the node; operands and results are empty. The node is not refused.
[[nodiscard]] ControlForm control_form(const Graph& graph, const Node& node);

/// Where a port of a body lies: in a value around it, or in the step's workspace.
struct ControlPort {
  PlanIndex value = kNoValue;
  std::size_t offset = 0;  ///< in the workspace when there is no value
};

struct ControlLayout {
  std::vector<std::vector<ControlPort>> inputs;   ///< by body, by input
  std::vector<std::vector<ControlPort>> outputs;  ///< by body, by output
  std::size_t bytes = 0;                          ///< of workspace, the bodies' arenas at its start included
};

/// `around` has the values that the step's form names. Sizes are added up without overflow. The step has as many ports
/// as its operator says (check_control).
[[nodiscard]] ControlLayout control_layout(const PlanBody& around, const PlanControl& step);

/// Checks a control step against the values around it, but not what is inside its bodies.
/// Error plan/damaged at `where`.
[[nodiscard]] Result<void> check_control(const PlanBody& around, const PlanStep& step, const std::string& where);

// How operands, results and the ports of bodies correspond.
[[nodiscard]] constexpr std::size_t body_count(ControlOperator op) { return op == ControlOperator::kIf ? 2 : 1; }
/// Operands before the carried ones; as many inputs of the body stand before its carried ones, none for an If.
[[nodiscard]] constexpr std::size_t leading_operands(ControlOperator op) {
  return op == ControlOperator::kIf ? 1 : op == ControlOperator::kLoop ? 2 : 0;
}
/// Outputs of the body before its carried ones.
[[nodiscard]] constexpr std::size_t leading_outputs(ControlOperator op) { return op == ControlOperator::kLoop ? 1 : 0; }
/// Values that go from one iteration to the next; of an If, none.
[[nodiscard]] inline std::size_t carried_count(const ControlForm& form) {
  if (form.op == ControlOperator::kIf) return 0;
  return form.operands.size() - leading_operands(form.op) - form.scan_inputs.size();
}

}  // namespace collage
