#include "plan/file/cases_file.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "base/json_reading.h"
#include "base/pages.h"
#include "plan/file/plan_file.h"
#include "plan/file/plan_json.h"
#include "plan/file/plan_members.h"
#include "plan/file/plan_object.h"
#include "plan/file/shape_json.h"
#include "plan/signature/plan_signature.h"

namespace collage {
namespace {

using nlohmann::json;
using namespace json_reading;

constexpr const char* kIndex = "plan.json";
constexpr const char* kGenericPlan = "generic.json";
constexpr const char* kGenericGraph = "plan.onnx";  ///< also the graph of a plan of fixed shapes

std::string plan_member(std::size_t i) { return fmt::format("cases/{}.json", i); }
std::string graph_member(std::size_t i) { return fmt::format("cases/{}.onnx", i); }

json extents_to_json(const ShapeDomain& domain, const ShapePoint& point) {
  json object = json::object();
  for (std::size_t d = 0; d < point.size(); ++d) object[domain.dimensions[d].name] = point[d];
  return object;
}

ShapePoint read_point(const ShapeDomain& domain, const json& object, const std::string& where) {
  ShapePoint point;
  for (const DimensionRange& dimension : domain.dimensions)
    point.push_back(number<std::int64_t>(object, dimension.name, where));
  return point;
}

double real(const json& object, const std::string& key, const std::string& where) {
  const json& found = member(object, key, where);
  if (!found.is_number()) throw JsonFault{where, "key '" + key + "' that is no number"};
  return found.get<double>();
}

ShapeDomain read_domain(const json& entries) {
  ShapeDomain domain;
  for (const json& entry : entries)
    domain.dimensions.push_back({.name = text(entry, "name", "domain"),
                                 .low = number<std::int64_t>(entry, "low", "domain"),
                                 .high = number<std::int64_t>(entry, "high", "domain")});
  return domain;
}

CaseInput read_input(const json& object) {
  CaseInput input{.name = text(object, "name", "inputs"), .type = {}};
  const std::string type = text(object, "type", "inputs");
  if (!object.contains("shape")) {
    const auto parsed = parse_value_type(type);
    if (!parsed || !parsed->is_held()) throw JsonFault{"inputs", "type '" + type + "'"};
    input.type = *parsed;
    return input;
  }
  const auto element = element_type_of(type);
  if (!element) throw JsonFault{"inputs", "an unknown type"};
  input.type.kind = ValueKind::kTensor;
  input.type.element = *element;
  input.type.shape = read_shape(list(object, "shape", "inputs"), "inputs");
  return input;
}

/// Everything but the plans themselves.
PlanCases read_index(const json& object, bool& has_generic) {
  PlanCases cases;
  cases.domain = read_domain(list(object, "domain", "plan"));
  if (cases.domain.dimensions.empty()) throw JsonFault{"domain", "no dimension"};
  for (const json& input : list(object, "inputs", "plan")) cases.inputs.push_back(read_input(input));
  for (const json& entry : list(object, "cases", "plan")) {
    const std::string where = fmt::format("case {}", cases.cases.size());
    cases.cases.push_back({.point = read_point(cases.domain, member(entry, "extents", where), where),
                           .weight = real(entry, "weight", where),
                           .measured_us = real(entry, "measured_us", where),
                           .generic_us = real(entry, "generic_us", where),
                           .plan = {}});
  }
  const json& generic = member(object, "generic", "plan");
  if (!generic.is_boolean()) throw JsonFault{"generic", "no truth value"};
  has_generic = generic.get<bool>();
  if (object.contains("generic_engine")) cases.generic_engine = text(object, "generic_engine", "plan");
  if (object.contains("generic_times_us"))
    cases.generic_times_us = object["generic_times_us"].get<std::map<std::string, double>>();
  return cases;
}

Result<PlanCases> parse_index(const json& object, const std::string& path, bool& has_generic) {
  return read_json([&] { return read_index(object, has_generic); },
                   [&](const std::string& where, std::string saw) {
                     return fail(ExitCode::kBadInput, "plan/damaged", path + ": " + (where.empty() ? kIndex : where),
                                 std::move(saw), fmt::format("a plan of schema {}", kCasesSchema));
                   });
}

Result<RealisedPlan> load_one(const PlanMembers& members, const std::string& plan, const std::string& graph) {
  COLLAGE_TRY(const std::string_view written, members.checked_text(plan));
  COLLAGE_TRY(Plan parsed, parse_plan(written, members.path + ": " + plan));
  return attach_members(std::move(parsed), members, graph);
}

std::vector<const RealisedPlan*> plans_of(const PlanCases& cases) {
  std::vector<const RealisedPlan*> plans;
  if (cases.generic) plans.push_back(&*cases.generic);
  for (const PlanCase& one : cases.cases) plans.push_back(&one.plan);
  return plans;
}

bool is_cases_index(const json& object) {
  const auto schema = object.find("schema");
  return schema != object.end() && schema->is_string() && schema->get<std::string>() == kCasesSchema;
}

Result<PlanCases> read_cases(const PlanMembers& members, Checked checked) {
  const std::string& path = members.path;
  COLLAGE_TRY(const std::string_view index, members.checked_text(kIndex));
  const json object = json_of(index);
  if (!object.is_object() || !is_cases_index(object)) {
    COLLAGE_TRY(Plan parsed, read_plan(object, path));
    COLLAGE_TRY(RealisedPlan plan, attach_members(std::move(parsed), members, kGenericGraph));
    COLLAGE_TRY_VOID(check_contents({{&plan}}, checked, members));
    PlanCases cases = single_case(std::move(plan));
    cases.signer = members.signer;
    return cases;
  }
  bool has_generic = false;
  COLLAGE_TRY(PlanCases cases, parse_index(object, path, has_generic));
  cases.signer = members.signer;
  for (std::size_t i = 0; i < cases.cases.size(); ++i) {
    COLLAGE_TRY(cases.cases[i].plan, load_one(members, plan_member(i), graph_member(i)));
  }
  if (has_generic) {
    COLLAGE_TRY(cases.generic, load_one(members, kGenericPlan, kGenericGraph));
  }
  COLLAGE_TRY_VOID(check_contents(plans_of(cases), checked, members));
  if (auto sound = verify(cases); !sound) {
    sound.error().where = path + ": " + sound.error().where;
    return std::unexpected(std::move(sound).error());
  }
  return cases;
}

}  // namespace

std::string to_json(const PlanCases& cases) {
  json out = {{"generic_engine", cases.generic_engine}, {"generic_times_us", cases.generic_times_us}};
  const Plan& plan = any_plan(cases).plan;
  out["schema"] = kCasesSchema;
  out["model"] = {{"path", plan.model_path}, {"hash", plan.model_hash}};
  for (const char* key : {"domain", "inputs", "cases"}) out[key] = json::array();
  for (const DimensionRange& range : cases.domain.dimensions)
    out["domain"].push_back({{"name", range.name}, {"low", range.low}, {"high", range.high}});
  for (const CaseInput& input : cases.inputs) {
    const bool is_tensor = input.type.kind == ValueKind::kTensor;
    out["inputs"].push_back(
        {{"name", input.name}, {"type", is_tensor ? std::string(name_of(input.type.element)) : to_string(input.type)}});
    if (is_tensor) out["inputs"].back()["shape"] = shape_to_json(*input.type.shape);
  }
  for (std::size_t i = 0; i < cases.cases.size(); ++i) {
    const PlanCase& one = cases.cases[i];
    out["cases"].push_back({{"plan", plan_member(i)},
                            {"extents", extents_to_json(cases.domain, one.point)},
                            {"weight", one.weight},
                            {"measured_us", one.measured_us},
                            {"generic_us", one.generic_us}});
  }
  out["generic"] = cases.generic.has_value();
  return out.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<void> save_cases(const PlanCases& cases, const std::string& path) {
  if (cases.domain.dimensions.empty()) return save_plan(any_plan(cases), path);
  const std::vector<const RealisedPlan*> plans = plans_of(cases);
  std::vector<std::string> texts = {to_json(cases)};  // outlive the members, which view them
  for (const RealisedPlan* plan : plans) texts.push_back(to_json(with_checksums(*plan)));
  const auto bytes_of = [](const std::string& written) { return std::as_bytes(std::span(written)); };
  std::vector<ZipSource> members = {small_member(kIndex, bytes_of(texts.front())), weights_member(plans)};
  std::size_t next = 1;
  if (cases.generic) {
    members.push_back(small_member(kGenericPlan, bytes_of(texts[next++])));
    members.push_back(small_member(kGenericGraph, cases.generic->onnx.bytes()));
  }
  for (std::size_t i = 0; i < cases.cases.size(); ++i) {
    members.push_back(small_member(plan_member(i), bytes_of(texts[next++])));
    members.push_back(small_member(graph_member(i), cases.cases[i].plan.onnx.bytes()));
  }
  for (ZipSource& artifact : artifact_members(plans)) members.push_back(std::move(artifact));
  return write_members(path, members);
}

Result<PlanCases> load_cases(const std::string& path, Checked checked, const Signers& signers) {
  COLLAGE_TRY(const PlanMembers members, open_signed_members(path, signers));
  return read_cases(members, checked);
}

Result<PlanCases> load_cases(const Buffer& file, const std::string& label, Checked checked, const Signers& signers) {
  COLLAGE_CHECK(reinterpret_cast<std::uintptr_t>(file.data()) % kBufferAlignment == 0, "a plan at an odd address");
  COLLAGE_TRY(const PlanMembers members, open_signed_members(file, label, signers));
  return read_cases(members, checked);
}

}  // namespace collage
