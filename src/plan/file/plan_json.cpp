#include "plan/file/plan_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "plan/file/plan_json_keys.h"
#include "plan/file/plan_report_json.h"
#include "plan/file/shape_json.h"

namespace collage {
namespace {

using nlohmann::json;

json value_to_json(const PlanValue& value, std::size_t id, bool is_in_body) {
  json out = {{"id", id},
              {"name", value.name},
              {"format", value.place.format.name},
              {"storage", name_of(value.storage)},
              {"offset", value.offset},
              {"bytes", value.bytes}};
  if (value.type.kind == ValueKind::kTensor && value.type.shape) {
    out["type"] = name_of(value.type.element);
    out["shape"] = shape_to_json(*value.type.shape);
  } else {
    out["type"] = to_string(value.type);
  }
  if (has_buffer(value.storage, is_in_body)) out["buffer"] = value.buffer;
  if (value.storage == Storage::kDevice) out["location"] = value.place.location;
  if (value.checksum) out["checksum"] = fmt::format("{:016x}", *value.checksum);
  return out;
}

/// Indices with null for what is left out.
json operands_to_json(const std::vector<PlanIndex>& values) {
  json list = json::array();
  for (const PlanIndex index : values) list.push_back(index == kNoValue ? json(nullptr) : json(index));
  return list;
}

json slicings_to_json(const std::vector<Slicing>& slicings) {
  json list = json::array();
  for (const Slicing& slicing : slicings) list.push_back({{"axis", slicing.axis}, {"reverse", slicing.reverse}});
  return list;
}

json control_to_json(const ControlForm& form) {
  return {{"operator", name_of(form.op)},
          {"operands", operands_to_json(form.operands)},
          {"results", operands_to_json(form.results)},
          {"scan_inputs", slicings_to_json(form.scan_inputs)},
          {"scan_outputs", slicings_to_json(form.scan_outputs)}};
}

json check_to_json(const PlanCheck& check) {
  json out = {{"rule", name_of(check.rule)}, {"value", check.value}, {"operator", check.op_type}, {"node", check.node}};
  if (check.dividend != kNoValue) out["dividend"] = check.dividend;
  for (const OperandRange& range : check.ranges) out["ranges"].push_back({range.low, range.high});
  return out;
}

json body_to_json(const PlanBody& body);

json step_to_json(const PlanStep& step, std::size_t id) {
  const StepNodes& nodes = nodes_of(step);
  const StepArtifact* const loaded = artifact_of(step);
  const StepArtifact artifact = loaded == nullptr ? StepArtifact() : *loaded;
  const Workspace workspace = workspace_of(step);
  json out = {{"id", id},
              {"kind", kind_name(step)},
              {"backend", step.backend},
              {"variant", step.variant},
              {"nodes", nodes.names},
              {"structure", nodes.structure},
              {"inputs", step.inputs},
              {"outputs", step.outputs},
              {"artifact", artifact.hash},
              {"constants", artifact.constants},
              {"workspace", {{"offset", workspace.offset}, {"bytes", workspace.bytes}}},
              {"cost_ns", {{"median", step.cost_ns}, {"low", step.cost_low_ns}, {"high", step.cost_high_ns}}},
              {"runner_up", step.runner_up}};
  if (!nodes.repeated.empty()) out["repeated"] = nodes.repeated;
  if (step.is_estimated) out["cost_ns"]["estimated"] = true;
  if (!artifact.entry.empty()) out["entry"] = artifact.entry;
  if (location_of(step) != kHome) out["location"] = location_of(step);
  for (const PlanCheck& check : checks_of(step)) out["checks"].push_back(check_to_json(check));
  const auto* const control = std::get_if<PlanControl>(&step.work);
  if (control == nullptr) return out;
  out["control"] = control_to_json(control->form);
  out["bodies"] = json::array();
  for (const PlanBody& body : control->bodies) out["bodies"].push_back(body_to_json(body));
  return out;
}

/// Values and steps of a model or a body.
void contents_to_json(const PlanBody& body, bool is_in_body, json& out) {
  out["inputs"] = body.inputs;
  out["outputs"] = body.outputs;
  for (const char* key : {"values", "constants", "steps"}) out[key] = json::array();
  for (std::size_t i = 0; i < body.values.size(); ++i) {
    out["values"].push_back(value_to_json(body.values[i], i, is_in_body));
    if (body.values[i].storage == Storage::kConstant) out["constants"].push_back(i);
  }
  for (std::size_t i = 0; i < body.steps.size(); ++i) out["steps"].push_back(step_to_json(body.steps[i], i));
}

json body_to_json(const PlanBody& body) {
  json out = {{"name", body.name}, {"captures", body.captures}, {"arena_bytes", body.arena_bytes}};
  contents_to_json(body, true, out);
  return out;
}

}  // namespace

std::string to_json(const Plan& plan) {
  json out = plan.report ? report_to_json(*plan.report) : json::object();
  const bool has_held = std::ranges::any_of(plan.values, [](const PlanValue& value) { return value.type.is_held(); });
  out["schema"] = has_held ? kHeldPlanSchema : kPlanSchema;
  out["model"] = {{"path", plan.model_path}, {"hash", plan.model_hash}};
  out["weights_hash"] = plan.weights_hash;
  out["shapes"] = plan.shapes;
  out["machine"] = plan.machine;
  out["accuracy"] = plan.accuracy;
  if (!plan.passes_off.empty()) out["passes_off"] = plan.passes_off;
  out["threads"] = plan.threads;
  out["shipped"] = plan.shipped;
  out["memory"] = {{"arena_bytes", plan.arena_bytes}, {"weights_bytes", plan.weights_bytes}};
  if (!plan.device_arena_bytes.empty()) out["memory"]["device_arena_bytes"] = plan.device_arena_bytes;
  for (const char* key : {"backends", "artifacts"}) out[key] = json::array();
  for (const PlanBackend& backend : plan.backends)
    out["backends"].push_back({{"name", backend.name}, {"version", backend.version}, {"build", backend.build}});
  for (const PlanArtifact& artifact : plan.artifacts)
    out["artifacts"].push_back({{"hash", artifact.hash}, {"compatibility", artifact.compatibility}});
  contents_to_json(plan, false, out);
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace collage
