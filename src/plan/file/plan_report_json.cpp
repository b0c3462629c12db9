#include "plan/file/plan_report_json.h"

#include <algorithm>

#include "base/json_numbers.h"

namespace collage {
namespace {

using nlohmann::json;

/// More than any search has tried; a larger number is none of ours.
constexpr double kMostCandidates = 1e15;

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// A key of this type; null when there is none.
const json& part(const json& object, const char* key, json::value_t type) {
  static const json kNone;
  const auto found = object.find(key);
  return found != object.end() && found->type() == type ? *found : kNone;
}

SearchReport search_from(const json& object) {
  return {.cover_us = number(object, "cover_us"),
          .model_bound_us = number(object, "model_bound_us"),
          .proven_bound_us = number(object, "proven_bound_us"),
          .measured_us = number(object, "measured_us"),
          .candidates = static_cast<std::size_t>(std::clamp(number(object, "candidates"), 0.0, kMostCandidates))};
}

json to_json(const TimedPlan& plan) {
  json object = {{"name", plan.name}, {"us", plan.us}, {"is_engine", plan.is_engine}};
  if (plan.faster)
    object["faster"] = {{"ratio", plan.faster->ratio}, {"low", plan.faster->low}, {"high", plan.faster->high}};
  return object;
}

TimedPlan timed_plan_from(const json& object) {
  TimedPlan plan{.name = object["name"], .us = number(object, "us")};
  const json& engine = part(object, "is_engine", json::value_t::boolean);
  plan.is_engine = engine.is_boolean() && engine.get<bool>();
  const json& faster = part(object, "faster", json::value_t::object);
  if (!faster.is_null())
    plan.faster =
        FasterBy{.ratio = number(faster, "ratio"), .low = number(faster, "low"), .high = number(faster, "high")};
  return plan;
}

}  // namespace

json report_to_json(const PlanReport& report) {
  json plans = json::array();
  for (const TimedPlan& plan : report.plans) plans.push_back(to_json(plan));
  json object = {{"search",
                  {{"cover_us", report.search.cover_us},
                   {"model_bound_us", report.search.model_bound_us},
                   {"proven_bound_us", report.search.proven_bound_us},
                   {"measured_us", report.search.measured_us},
                   {"candidates", report.search.candidates}}},
                 {"rivals", report.rivals},
                 {"plans", plans}};
  if (report.explanation) object["explanation"] = explanation_to_json(*report.explanation);
  return object;
}

std::optional<PlanReport> report_from_json(const json& plan) {
  if (!plan.contains("search") && !plan.contains("explanation")) return std::nullopt;
  PlanReport report{.search = search_from(part(plan, "search", json::value_t::object)), .rivals = {}, .plans = {}};
  for (const auto& [name, us] : part(plan, "rivals", json::value_t::object).items())
    if (us.is_number()) report.rivals[name] = us.get<double>();
  for (const json& one : part(plan, "plans", json::value_t::array))
    if (one.is_object() && one.contains("name") && one["name"].is_string())
      report.plans.push_back(timed_plan_from(one));
  auto explanation = explanation_from_json(part(plan, "explanation", json::value_t::object), "plan.json");
  if (explanation) report.explanation = *std::move(explanation);
  return report;
}

}  // namespace collage
