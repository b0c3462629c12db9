#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "base/json_reading.h"
#include "plan/file/plan_json.h"
#include "plan/file/plan_json_keys.h"
#include "plan/file/plan_object.h"
#include "plan/file/plan_report_json.h"
#include "plan/file/shape_json.h"

namespace collage {
namespace {

using nlohmann::json;
using namespace json_reading;

constexpr std::array kStorages = {Storage::kInput,  Storage::kOutput,   Storage::kArena,
                                  Storage::kDevice, Storage::kConstant, Storage::kDynamic};
constexpr std::array kOperators = {ControlOperator::kIf, ControlOperator::kLoop, ControlOperator::kScan};
constexpr std::array kRules = {OperandRule::kRange, OperandRule::kNonZero, OperandRule::kNoOverflow};
/// Bodies in bodies; what a reader may recurse into.
constexpr int kDeepest = 32;

std::vector<PlanIndex> indices(const json& object, const std::string& key, const std::string& where) {
  std::vector<PlanIndex> out;
  for (const json& entry : list(object, key, where)) {
    if (!entry.is_number_unsigned() || !std::in_range<PlanIndex>(entry.get<std::uint64_t>()))
      throw JsonFault{where, "an entry of '" + key + "' that is no index"};
    out.push_back(entry.get<PlanIndex>());
  }
  return out;
}

template <class Enum, std::size_t N, class Name>
Enum named(const std::array<Enum, N>& all, Name name, const std::string& text, const std::string& where) {
  for (const Enum candidate : all)
    if (name(candidate) == text) return candidate;
  throw JsonFault{where, "the word '" + text + "'"};
}

std::vector<PlanIndex> operands(const json& object, const std::string& key, const std::string& where) {
  json given = list(object, key, where);
  for (json& entry : given)
    if (entry.is_null()) entry = kNoValue;
  return indices({{key, std::move(given)}}, key, where);
}

std::vector<Slicing> slicings(const json& object, const std::string& key, const std::string& where) {
  std::vector<Slicing> out;
  for (const json& entry : list(object, key, where)) {
    const json& reverse = member(entry, "reverse", where);
    if (!reverse.is_boolean()) throw JsonFault{where, "a direction that is no truth value"};
    out.push_back({number<std::uint32_t>(entry, "axis", where), reverse.get<bool>()});
  }
  return out;
}

ControlForm read_control(const json& object, const std::string& where) {
  const auto operator_name = [](ControlOperator op) { return name_of(op); };
  return {.op = named(kOperators, operator_name, text(object, "operator", where), where),
          .operands = operands(object, "operands", where),
          .results = operands(object, "results", where),
          .scan_inputs = slicings(object, "scan_inputs", where),
          .scan_outputs = slicings(object, "scan_outputs", where)};
}

std::uint64_t read_checksum(const json& object, const std::string& where) {
  const std::string digits = text(object, "checksum", where);
  std::uint64_t checksum = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto [at, error] = std::from_chars(digits.data(), end, checksum, 16); error != std::errc{} || at != end)
    throw JsonFault{where, "checksum '" + digits + "'"};
  return checksum;
}

PlanValue read_value(const json& object, const std::string& where, bool is_in_body) {
  PlanValue value;
  value.name = text(object, "name", where);
  value.place.format.name = text(object, "format", where);
  const auto storage_name = [](Storage storage) { return name_of(storage); };
  value.storage = named(kStorages, storage_name, text(object, "storage", where), where);
  value.offset = number<std::size_t>(object, "offset", where);
  value.bytes = number<std::size_t>(object, "bytes", where);
  const std::string type = text(object, "type", where);
  if (object.contains("shape")) {
    const std::optional<ElementType> element = element_type_of(type);
    if (!element) throw JsonFault{where, "type '" + type + "'"};
    value.type.kind = ValueKind::kTensor;
    value.type.element = *element;
    value.type.shape = read_shape(list(object, "shape", where), where);
  } else {
    const std::optional<ValueType> parsed = parse_value_type(type);
    if (!parsed || parsed->is_static()) throw JsonFault{where, "type '" + type + "'"};
    value.type = *parsed;
  }
  if (has_buffer(value.storage, is_in_body)) value.buffer = number<std::uint32_t>(object, "buffer", where);
  if (value.storage == Storage::kDevice) value.place.location = text(object, "location", where);
  if (object.contains("checksum")) value.checksum = read_checksum(object, where);
  return value;
}

PlanCheck read_check(const json& object, const std::string& where) {
  const auto rule_name = [](OperandRule rule) { return name_of(rule); };
  PlanCheck check{.rule = named(kRules, rule_name, text(object, "rule", where), where),
                  .value = number<PlanIndex>(object, "value", where),
                  .dividend = kNoValue,
                  .ranges = {},
                  .op_type = text(object, "operator", where),
                  .node = text(object, "node", where)};
  if (object.contains("dividend")) check.dividend = number<PlanIndex>(object, "dividend", where);
  if (!object.contains("ranges")) return check;
  for (const json& range : list(object, "ranges", where)) {
    if (!range.is_array() || range.size() != 2 || !range[0].is_number_integer() || !range[1].is_number_integer())
      throw JsonFault{where, "a range that is no pair of integers"};
    check.ranges.push_back({range[0].get<std::int64_t>(), range[1].get<std::int64_t>()});
  }
  return check;
}

PlanBody read_body(const json& object, const std::string& where, int depth);

std::vector<std::string> texts(const json& object, const std::string& key, const std::string& where) {
  std::vector<std::string> texts;
  for (const json& entry : list(object, key, where)) {
    if (!entry.is_string()) throw JsonFault{where, "an entry of '" + key + "' that is no text"};
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

/// What the text says of a step beside what every step has.
struct StepParts {
  std::string location = kHome;
  StepNodes nodes;
  StepArtifact artifact;
  std::vector<PlanCheck> checks;
};

StepParts read_parts(const json& object, const std::string& where) {
  StepParts parts;
  parts.nodes.names = texts(object, "nodes", where);
  if (object.contains("repeated")) parts.nodes.repeated = texts(object, "repeated", where);
  parts.nodes.structure = text(object, "structure", where);
  parts.artifact.hash = text(object, "artifact", where);
  parts.artifact.constants = indices(object, "constants", where);
  const json& workspace = member(object, "workspace", where);
  parts.artifact.workspace.offset = number<std::size_t>(workspace, "offset", where);
  parts.artifact.workspace.bytes = number<std::size_t>(workspace, "bytes", where);
  if (object.contains("entry")) parts.artifact.entry = text(object, "entry", where);
  if (object.contains("location")) parts.location = text(object, "location", where);
  if (object.contains("checks"))
    for (const json& check : list(object, "checks", where)) parts.checks.push_back(read_check(check, where));
  return parts;
}

/// Which of these parts a kind of step has.
struct PartsOfKind {
  bool location = false;
  bool nodes = false;
  bool artifact = false;
  bool workspace = false;
  bool checks = false;
};

void refuse_others(const StepParts& parts, const PartsOfKind& kind, const std::string& where) {
  StepArtifact artifact = parts.artifact;
  artifact.workspace = {};
  const auto refuse = [&](bool may_have, bool has, const std::string& what) {
    if (has && !may_have) throw JsonFault{where, what + " of a step of another kind"};
  };
  refuse(kind.location, parts.location != kHome, "location '" + parts.location + "'");
  refuse(kind.nodes, parts.nodes != StepNodes(), "nodes");
  refuse(kind.artifact, artifact != StepArtifact(), "artifact '" + artifact.hash + "'");
  refuse(kind.workspace, parts.artifact.workspace != Workspace(), "a workspace");
  refuse(kind.checks, !parts.checks.empty(), "checks");
}

PlanControl read_control_step(const json& object, StepParts parts, const std::string& where, int depth) {
  if (depth >= kDeepest) throw JsonFault{where, fmt::format("bodies in more than {} bodies", kDeepest)};
  PlanControl control{.nodes = std::move(parts.nodes),
                      .form = read_control(member(object, "control", where), where),
                      .bodies = {},
                      .workspace = parts.artifact.workspace};
  for (const json& body : list(object, "bodies", where)) control.bodies.push_back(read_body(body, where, depth + 1));
  return control;
}

PlanStep::Work read_work(const json& object, const std::string& where, int depth) {
  const std::string kind = text(object, "kind", where);
  StepParts parts = read_parts(object, where);
  if (kind == PlanKernel::kKind)
    return PlanKernel{.location = std::move(parts.location),
                      .nodes = std::move(parts.nodes),
                      .artifact = std::move(parts.artifact),
                      .checks = std::move(parts.checks)};
  if (kind == PlanConversion::kKind) {
    refuse_others(parts, {.location = true, .artifact = true, .workspace = true}, where);
    return PlanConversion{.location = std::move(parts.location), .artifact = std::move(parts.artifact)};
  }
  if (kind == PlanTransfer::kKind) {
    refuse_others(parts, {}, where);
    return PlanTransfer{};
  }
  if (kind == PlanView::kKind) {
    refuse_others(parts, {.location = true, .nodes = true}, where);
    return PlanView{.location = std::move(parts.location), .nodes = std::move(parts.nodes)};
  }
  if (kind != PlanControl::kKind) throw JsonFault{where, "the word '" + kind + "'"};
  refuse_others(parts, {.nodes = true, .workspace = true}, where);
  return read_control_step(object, std::move(parts), where, depth);
}

PlanStep read_step(const json& object, const std::string& where, int depth) {
  PlanStep step;
  step.work = read_work(object, where, depth);
  step.backend = text(object, "backend", where);
  step.variant = text(object, "variant", where);
  step.inputs = indices(object, "inputs", where);
  step.outputs = indices(object, "outputs", where);
  const json& cost = member(object, "cost_ns", where);
  step.cost_ns = number<std::int64_t>(cost, "median", where);
  step.cost_low_ns = number<std::int64_t>(cost, "low", where);
  step.cost_high_ns = number<std::int64_t>(cost, "high", where);
  step.is_estimated = cost.contains("estimated");
  step.runner_up = text(object, "runner_up", where);
  return step;
}

/// Values and steps of a model (depth 0) or of a body.
void read_contents(const json& object, const std::string& where, int depth, PlanBody& body) {
  const std::string inside = depth == 0 ? "" : where + ": ";
  for (const json& value : list(object, "values", where))
    body.values.push_back(read_value(value, inside + fmt::format("value {}", body.values.size()), depth > 0));
  for (const json& step : list(object, "steps", where))
    body.steps.push_back(read_step(step, inside + fmt::format("step {}", body.steps.size()), depth));
  body.inputs = indices(object, "inputs", where);
  body.outputs = indices(object, "outputs", where);
}

PlanBody read_body(const json& object, const std::string& where, int depth) {
  PlanBody body;
  body.name = text(object, "name", where);
  body.captures = indices(object, "captures", where);
  body.arena_bytes = number<std::size_t>(object, "arena_bytes", where);
  read_contents(object, where + ", body " + body.name, depth, body);
  return body;
}

void read_header(const json& object, Plan& plan) {
  const json& model = member(object, "model", "plan");
  plan.model_path = text(model, "path", "model");
  plan.model_hash = text(model, "hash", "model");
  plan.weights_hash = text(object, "weights_hash", "plan");
  const json& shapes = member(object, "shapes", "plan");
  if (!shapes.is_object()) throw JsonFault{"shapes", "no JSON object"};
  for (const auto& [name, shape] : shapes.items()) plan.shapes[name] = text(shapes, name, "shapes");
  plan.machine = text(object, "machine", "plan");
  plan.accuracy = text(object, "accuracy", "plan");
  if (object.contains("passes_off"))
    for (std::string& name : texts(object, "passes_off", "plan")) plan.passes_off.insert(std::move(name));
  plan.threads = number<int>(object, "threads", "plan");
  if (plan.threads < 1 || plan.threads > kMostThreads)
    throw JsonFault{"plan", fmt::format("{} threads, not 1 to {}", plan.threads, kMostThreads)};
  plan.shipped = text(object, "shipped", "plan");
  const json& memory = member(object, "memory", "plan");
  plan.arena_bytes = number<std::size_t>(memory, "arena_bytes", "memory");
  plan.weights_bytes = number<std::size_t>(memory, "weights_bytes", "memory");
  if (const auto arenas = memory.find("device_arena_bytes"); arenas != memory.end()) {
    if (!arenas->is_object()) throw JsonFault{"memory", "arenas of devices that are no JSON object"};
    for (const auto& [location, bytes] : arenas->items())
      plan.device_arena_bytes[location] = number<std::size_t>(*arenas, location, "memory");
  }
  for (const json& backend : list(object, "backends", "plan"))
    plan.backends.push_back({.name = text(backend, "name", "backends"),
                             .version = text(backend, "version", "backends"),
                             .build = text(backend, "build", "backends")});
  for (const json& artifact : list(object, "artifacts", "plan"))
    plan.artifacts.push_back(
        {.hash = text(artifact, "hash", "artifacts"), .compatibility = text(artifact, "compatibility", "artifacts")});
}

Plan plan_from(const json& object) {
  Plan plan;
  read_header(object, plan);
  read_contents(object, "plan", 0, plan);
  plan.report = report_from_json(object);
  return plan;
}

}  // namespace

Result<Plan> parse_plan(std::string_view json_text, const std::string& label) {
  return read_plan(json_of(json_text), label);
}

Result<Plan> read_plan(const json& object, const std::string& label) {
  const auto damaged = [&](const std::string& where, std::string saw) {
    return fail(ExitCode::kBadInput, "plan/damaged", label + ": " + where, std::move(saw),
                fmt::format("a plan of schema {}", kPlanSchema));
  };
  if (!object.is_object()) return damaged("plan.json", "no JSON object");
  const json schema = object.value("schema", json());
  if (!schema.is_string()) return damaged("plan.json", "no schema");
  if (schema.get<std::string>() != kPlanSchema && schema.get<std::string>() != kHeldPlanSchema)
    return fail(ExitCode::kBadInput, "plan/wrong-version", label, "schema " + schema.get<std::string>(),
                fmt::format("{} and {}, plans of fixed shapes", kPlanSchema, kHeldPlanSchema));
  COLLAGE_TRY(Plan plan, read_json([&] { return plan_from(object); },
                                   [&](const std::string& where, std::string saw) {
                                     return damaged(where.empty() ? "plan.json" : where, std::move(saw));
                                   }));
  if (auto checked = verify(plan); !checked) {
    Error error = std::move(checked).error();
    error.where = label + ": " + error.where;
    return std::unexpected(std::move(error));
  }
  return plan;
}

}  // namespace collage
