#include "plan/file/plan_binary.h"

#include <tuple>

#include "base/binary.h"

namespace collage {

// What the structures of a plan consist of (base/binary.h).
inline auto members(Dim& of) { return std::tie(of.extent, of.symbol); }
inline auto members(ValueType& of) { return std::tie(of.kind, of.element, of.shape, of.inner); }
inline auto members(Format& of) { return std::tie(of.name); }
inline auto members(Place& of) { return std::tie(of.location, of.format); }
inline auto members(PlanValue& of) {
  return std::tie(of.name, of.type, of.place, of.storage, of.buffer, of.offset, of.bytes, of.checksum);
}
inline auto members(Slicing& of) { return std::tie(of.axis, of.reverse); }
inline auto members(ControlForm& of) {
  return std::tie(of.op, of.operands, of.results, of.scan_inputs, of.scan_outputs);
}
inline auto members(OperandRange& of) { return std::tie(of.low, of.high); }
inline auto members(PlanCheck& of) { return std::tie(of.rule, of.value, of.dividend, of.ranges, of.op_type, of.node); }
inline auto members(StepNodes& of) { return std::tie(of.names, of.repeated, of.structure); }
inline auto members(Workspace& of) { return std::tie(of.offset, of.bytes); }
inline auto members(StepArtifact& of) { return std::tie(of.hash, of.entry, of.constants, of.workspace); }
inline auto members(PlanKernel& of) { return std::tie(of.location, of.nodes, of.artifact, of.checks); }
inline auto members(PlanConversion& of) { return std::tie(of.location, of.artifact); }
inline auto members(PlanTransfer& /*of*/) { return std::tuple<>(); }
inline auto members(PlanView& of) { return std::tie(of.location, of.nodes); }
inline auto members(PlanControl& of) { return std::tie(of.nodes, of.form, of.bodies, of.workspace); }
inline auto members(PlanStep& of) {
  return std::tie(of.backend, of.variant, of.work, of.inputs, of.outputs, of.cost_ns, of.cost_low_ns, of.cost_high_ns,
                  of.is_estimated, of.runner_up);
}
inline auto members(PlanBody& of) {
  return std::tie(of.name, of.values, of.inputs, of.outputs, of.captures, of.steps, of.arena_bytes);
}
inline auto members(PlanArtifact& of) { return std::tie(of.hash, of.compatibility); }
inline auto members(PlanBackend& of) { return std::tie(of.name, of.version, of.build); }
inline auto members(Plan& of) {
  PlanBody& body = of;
  return std::tuple_cat(std::tie(body), std::tie(of.model_path, of.model_hash, of.weights_hash, of.shapes, of.machine,
                                                 of.accuracy, of.passes_off, of.threads, of.backends, of.artifacts,
                                                 of.device_arena_bytes, of.weights_bytes, of.shipped));
}

std::string plan_to_binary(const Plan& plan) { return to_binary(plan); }

Result<Plan> plan_from_binary(std::string_view bytes) {
  if (std::optional<Plan> plan = from_binary<Plan>(bytes)) return *std::move(plan);
  return fail(ExitCode::kBadInput, "plan/damaged", "library", "a plan that this build has not written");
}

}  // namespace collage
