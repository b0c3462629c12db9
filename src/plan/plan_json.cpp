#include "plan/plan_json.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collage {
namespace {

using nlohmann::json;

constexpr std::array kStorages = {Storage::kInput, Storage::kOutput, Storage::kArena, Storage::kConstant,
                                  Storage::kDynamic};
constexpr std::array kStepKinds = {StepKind::kKernel, StepKind::kConvert, StepKind::kView};

const std::set<std::string>& own_keys() {
  static const std::set<std::string> keys = {"schema",  "model",     "weights_hash", "shapes",  "machine", "accuracy",
                                             "threads", "backends",  "inputs",       "outputs", "values",  "constants",
                                             "steps",   "artifacts", "memory",       "shipped"};
  return keys;
}

json shape_to_json(const Shape& shape) {
  json list = json::array();
  for (const Dim& dim : shape) {
    if (dim.is_static()) {
      list.push_back(dim.extent);
    } else {
      list.push_back(dim.symbol.empty() ? json(nullptr) : json(dim.symbol));
    }
  }
  return list;
}

json value_to_json(const PlanValue& value, std::size_t id) {
  json out = {{"id", id},
              {"name", value.name},
              {"format", value.format.name},
              {"storage", name_of(value.storage)},
              {"offset", value.offset},
              {"bytes", value.bytes}};
  if (value.type.kind == ValueKind::kTensor && value.type.shape) {
    out["type"] = name_of(value.type.element);
    out["shape"] = shape_to_json(*value.type.shape);
  } else {
    out["type"] = to_string(value.type);
  }
  if (value.storage == Storage::kInput || value.storage == Storage::kOutput) out["buffer"] = value.buffer;
  return out;
}

json step_to_json(const PlanStep& step, std::size_t id) {
  return {{"id", id},
          {"kind", plan_name_of(step.kind)},
          {"backend", step.backend},
          {"variant", step.variant},
          {"nodes", step.nodes},
          {"structure", step.structure},
          {"inputs", step.inputs},
          {"outputs", step.outputs},
          {"artifact", step.artifact},
          {"constants", step.constants},
          {"workspace", {{"offset", step.workspace_offset}, {"bytes", step.workspace_bytes}}},
          {"cost_ns", {{"median", step.cost_ns}, {"low", step.cost_low_ns}, {"high", step.cost_high_ns}}},
          {"runner_up", step.runner_up}};
}

/// What a reader throws when the text does not have the promised form; never leaves this file.
struct Damage {
  std::string where;
  std::string saw;
};

const json& member(const json& object, const std::string& key, const std::string& where) {
  if (!object.is_object()) throw Damage{where, "no JSON object"};
  const auto found = object.find(key);
  if (found == object.end()) throw Damage{where, "no key '" + key + "'"};
  return *found;
}

/// A number that fits T exactly; nlohmann::json would convert silently.
template <class T>
T number(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if constexpr (std::is_unsigned_v<T>) {
    if (found.is_number_unsigned() && std::in_range<T>(found.get<std::uint64_t>())) return found.get<T>();
  } else {
    if (found.is_number_unsigned() && std::in_range<T>(found.get<std::uint64_t>())) return found.get<T>();
    if (found.is_number_integer() && !found.is_number_unsigned() && std::in_range<T>(found.get<std::int64_t>()))
      return found.get<T>();
  }
  throw Damage{where, "key '" + key + "' with " + found.dump()};
}

std::string text(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if (!found.is_string()) throw Damage{where, "key '" + key + "' that is no text"};
  return found.get<std::string>();
}

const json& list(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if (!found.is_array()) throw Damage{where, "key '" + key + "' that is no list"};
  return found;
}

std::vector<PlanIndex> indices(const json& object, const std::string& key, const std::string& where) {
  std::vector<PlanIndex> out;
  for (const json& entry : list(object, key, where)) {
    if (!entry.is_number_unsigned() || !std::in_range<PlanIndex>(entry.get<std::uint64_t>()))
      throw Damage{where, "an entry of '" + key + "' that is no index"};
    out.push_back(entry.get<PlanIndex>());
  }
  return out;
}

template <class Enum, std::size_t N, class Name>
Enum named(const std::array<Enum, N>& all, Name name, const std::string& text, const std::string& where) {
  for (const Enum candidate : all)
    if (name(candidate) == text) return candidate;
  throw Damage{where, "the word '" + text + "'"};
}

Shape read_shape(const json& entries, const std::string& where) {
  Shape shape;
  std::int64_t elements = 1;
  for (const json& entry : entries) {
    Dim dim;
    if (entry.is_string()) {
      dim.symbol = entry.get<std::string>();
    } else if (entry.is_number_unsigned() && std::in_range<std::int64_t>(entry.get<std::uint64_t>())) {
      dim.extent = entry.get<std::int64_t>();
      // Sizes computed from extents later must not overflow: 2^56 elements of at most 16 bytes do not.
      constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;
      if (dim.extent != 0 && elements > kMaxElements / dim.extent) throw Damage{where, "a shape beyond all memory"};
      if (dim.extent != 0) elements *= dim.extent;
    } else if (!entry.is_null()) {
      throw Damage{where, "extent " + entry.dump()};
    }
    shape.push_back(std::move(dim));
  }
  return shape;
}

PlanValue read_value(const json& object, const std::string& where) {
  PlanValue value;
  value.name = text(object, "name", where);
  value.format.name = text(object, "format", where);
  const auto storage_name = [](Storage storage) { return name_of(storage); };
  value.storage = named(kStorages, storage_name, text(object, "storage", where), where);
  value.offset = number<std::size_t>(object, "offset", where);
  value.bytes = number<std::size_t>(object, "bytes", where);
  const std::string type = text(object, "type", where);
  if (object.contains("shape")) {
    const std::optional<ElementType> element = element_type_of(type);
    if (!element) throw Damage{where, "type '" + type + "'"};
    value.type.kind = ValueKind::kTensor;
    value.type.element = *element;
    value.type.shape = read_shape(list(object, "shape", where), where);
  } else {
    const std::optional<ValueType> parsed = parse_value_type(type);
    if (!parsed || parsed->is_static()) throw Damage{where, "type '" + type + "'"};
    value.type = *parsed;
  }
  if (value.storage == Storage::kInput || value.storage == Storage::kOutput)
    value.buffer = number<std::uint32_t>(object, "buffer", where);
  return value;
}

PlanStep read_step(const json& object, const std::string& where) {
  PlanStep step;
  step.kind = named(kStepKinds, plan_name_of, text(object, "kind", where), where);
  step.backend = text(object, "backend", where);
  step.variant = text(object, "variant", where);
  for (const json& node : list(object, "nodes", where)) {
    if (!node.is_string()) throw Damage{where, "a node that is no text"};
    step.nodes.push_back(node.get<std::string>());
  }
  step.structure = text(object, "structure", where);
  step.inputs = indices(object, "inputs", where);
  step.outputs = indices(object, "outputs", where);
  step.artifact = text(object, "artifact", where);
  step.constants = indices(object, "constants", where);
  const json& workspace = member(object, "workspace", where);
  step.workspace_offset = number<std::size_t>(workspace, "offset", where);
  step.workspace_bytes = number<std::size_t>(workspace, "bytes", where);
  const json& cost = member(object, "cost_ns", where);
  step.cost_ns = number<std::int64_t>(cost, "median", where);
  step.cost_low_ns = number<std::int64_t>(cost, "low", where);
  step.cost_high_ns = number<std::int64_t>(cost, "high", where);
  step.runner_up = text(object, "runner_up", where);
  return step;
}

void read_header(const json& object, Plan& plan) {
  const json& model = member(object, "model", "plan");
  plan.model_path = text(model, "path", "model");
  plan.model_hash = text(model, "hash", "model");
  plan.weights_hash = text(object, "weights_hash", "plan");
  const json& shapes = member(object, "shapes", "plan");
  if (!shapes.is_object()) throw Damage{"shapes", "no JSON object"};
  for (const auto& [name, shape] : shapes.items()) plan.shapes[name] = text(shapes, name, "shapes");
  plan.machine = text(object, "machine", "plan");
  plan.accuracy = text(object, "accuracy", "plan");
  plan.threads = number<int>(object, "threads", "plan");
  plan.shipped = text(object, "shipped", "plan");
  const json& memory = member(object, "memory", "plan");
  plan.arena_bytes = number<std::size_t>(memory, "arena_bytes", "memory");
  plan.weights_bytes = number<std::size_t>(memory, "weights_bytes", "memory");
  for (const json& backend : list(object, "backends", "plan"))
    plan.backends.push_back({.name = text(backend, "name", "backends"),
                             .version = text(backend, "version", "backends"),
                             .build = text(backend, "build", "backends")});
  for (const json& artifact : list(object, "artifacts", "plan"))
    plan.artifacts.push_back(
        {.hash = text(artifact, "hash", "artifacts"), .compatibility = text(artifact, "compatibility", "artifacts")});
}

Plan read_plan(const json& object) {
  Plan plan;
  read_header(object, plan);
  for (const json& value : list(object, "values", "plan"))
    plan.values.push_back(read_value(value, fmt::format("value {}", plan.values.size())));
  for (const json& step : list(object, "steps", "plan"))
    plan.steps.push_back(read_step(step, fmt::format("step {}", plan.steps.size())));
  plan.inputs = indices(object, "inputs", "plan");
  plan.outputs = indices(object, "outputs", "plan");
  json report = json::object();
  for (const auto& [key, value] : object.items())
    if (!own_keys().contains(key)) report[key] = value;
  plan.report_json = report.dump();
  return plan;
}

}  // namespace

std::string to_json(const Plan& plan) {
  json out = json::parse(plan.report_json, nullptr, false);
  COLLAGE_CHECK(out.is_object(), "the report of a plan is no JSON object");
  for (const std::string& key : own_keys()) COLLAGE_CHECK(!out.contains(key), "the report uses the plan's key " + key);
  out["schema"] = kPlanSchema;
  out["model"] = {{"path", plan.model_path}, {"hash", plan.model_hash}};
  out["weights_hash"] = plan.weights_hash;
  out["shapes"] = plan.shapes;
  out["machine"] = plan.machine;
  out["accuracy"] = plan.accuracy;
  out["threads"] = plan.threads;
  out["shipped"] = plan.shipped;
  out["inputs"] = plan.inputs;
  out["outputs"] = plan.outputs;
  out["memory"] = {{"arena_bytes", plan.arena_bytes}, {"weights_bytes", plan.weights_bytes}};
  for (const char* key : {"backends", "artifacts", "values", "constants", "steps"}) out[key] = json::array();
  for (const PlanBackend& backend : plan.backends)
    out["backends"].push_back({{"name", backend.name}, {"version", backend.version}, {"build", backend.build}});
  for (const PlanArtifact& artifact : plan.artifacts)
    out["artifacts"].push_back({{"hash", artifact.hash}, {"compatibility", artifact.compatibility}});
  for (std::size_t i = 0; i < plan.values.size(); ++i) {
    out["values"].push_back(value_to_json(plan.values[i], i));
    if (plan.values[i].storage == Storage::kConstant) out["constants"].push_back(i);
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) out["steps"].push_back(step_to_json(plan.steps[i], i));
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Plan> parse_plan(std::string_view json_text, const std::string& label) {
  const json object = json::parse(json_text, nullptr, false);
  const auto damaged = [&](const std::string& where, std::string saw) {
    return fail(ExitCode::kBadInput, "plan/damaged", label + ": " + where, std::move(saw),
                fmt::format("a plan of schema {}", kPlanSchema));
  };
  if (!object.is_object()) return damaged("plan.json", "no JSON object");
  const json schema = object.value("schema", json());
  if (!schema.is_string()) return damaged("plan.json", "no schema");
  if (schema.get<std::string>() != kPlanSchema)
    return fail(ExitCode::kBadInput, "plan/wrong-version", label, "schema " + schema.get<std::string>(),
                std::string(kPlanSchema));
  Plan plan;
  try {
    plan = read_plan(object);
  } catch (const Damage& damage) {
    return damaged(damage.where, damage.saw);
  } catch (const json::exception& exception) {
    return damaged("plan.json", exception.what());
  }
  if (auto checked = verify(plan); !checked) {
    Error error = std::move(checked).error();
    error.where = label + ": " + error.where;
    return std::unexpected(std::move(error));
  }
  return plan;
}

}  // namespace collage
