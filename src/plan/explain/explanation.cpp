#include "plan/explain/explanation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "plan/file/plan_report_json.h"

namespace collage {
namespace {

using nlohmann::json;
using Positions = std::vector<std::uint32_t>;

constexpr std::array<std::pair<MarginBy, std::string_view>, 4> kMargins = {{{MarginBy::kNothing, ""},
                                                                            {MarginBy::kExchange, "exchange"},
                                                                            {MarginBy::kCover, "cover"},
                                                                            {MarginBy::kEndToEnd, "end-to-end"}}};

constexpr std::array<std::pair<Unmeasured, std::string_view>, 4> kUnmeasured = {
    {{Unmeasured::kUnknown, ""},
     {Unmeasured::kStopped, "stopped"},
     {Unmeasured::kOutOfTime, "out-of-time"},
     {Unmeasured::kNotNeeded, "not-needed"}}};

template <class T, std::size_t N>
std::string_view name_in(const std::array<std::pair<T, std::string_view>, N>& names, T value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return "";
}

std::optional<Nanoseconds> difference(const std::optional<Nanoseconds>& a, const std::optional<Nanoseconds>& b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

void put(json& object, const char* key, const std::optional<Nanoseconds>& ns) {
  if (ns) object[key] = *ns;
}

json to_json(const ExplainedCandidate& candidate) {
  json object = {
      {"backend", candidate.backend}, {"variant", candidate.variant}, {"nodes", ranges_text(candidate.nodes)}};
  if (!candidate.repeated.empty()) object["repeated"] = ranges_text(candidate.repeated);
  put(object, candidate.estimated ? "estimated_ns" : "cost_ns", candidate.cost_ns);
  put(object, "cost_at_least_ns", candidate.cost_at_least_ns);
  put(object, "margin_ns", candidate.margin_ns);
  put(object, "margin_at_least_ns", candidate.margin_at_least_ns);
  if (candidate.margin_by != MarginBy::kNothing) object["margin_by"] = name_of(candidate.margin_by);
  if (candidate.why_unmeasured != Unmeasured::kUnknown) object["why_unmeasured"] = name_of(candidate.why_unmeasured);
  if (!candidate.input_formats.empty()) object["input_formats"] = candidate.input_formats;
  if (!candidate.output_formats.empty()) object["output_formats"] = candidate.output_formats;
  if (candidate.location != kHome) object["location"] = candidate.location;
  return object;
}

json to_json(const ExplainedRefusal& refusal) {
  return {{"backend", refusal.backend},
          {"variant", refusal.variant},
          {"reason", refusal.reason},
          {"detail", refusal.detail},
          {"nodes", refusal.nodes}};
}

json to_json(const ExplainedSum& sum) {
  return {{"measured_ns", sum.measured_ns},
          {"estimated_ns", sum.estimated_ns},
          {"launch_ns", sum.launch_ns},
          {"measured", sum.measured},
          {"estimated", sum.estimated}};
}

json to_json(const ExplainedUserRule& rule) {
  return {{"where", rule.where}, {"text", rule.text}, {"backend", rule.backend}, {"takes_others", rule.takes_others}};
}

json to_json(const ExplainedAlternative& alternative) {
  json object = {{"cost_ns", alternative.cost_ns}, {"changed", alternative.changed}};
  if (!alternative.steps.empty()) object["steps"] = ranges_text(alternative.steps);
  return object;
}

json to_json(const ExplainedPrecision& precision) {
  json object = {
      {"bound", precision.bound}, {"share", precision.share}, {"sets", precision.sets}, {"steps", json::array()}};
  if (precision.predicted_share) object["predicted_share"] = *precision.predicted_share;
  for (const ExplainedNarrowStep& step : precision.steps) {
    json entry = {{"step", step.step}, {"element", step.element}};
    put(entry, "gain_ns", step.gain_ns);
    if (step.share) entry["share"] = *step.share;
    object["steps"].push_back(std::move(entry));
  }
  return object;
}

json to_json(const ExplainedPeak& peak) {
  return {{"flops_per_ns", peak.flops_per_ns},
          {"cache_bytes_per_ns", peak.cache_bytes_per_ns},
          {"memory_bytes_per_ns", peak.memory_bytes_per_ns}};
}

json to_json(const ExplainedProblem& problem) {
  json object = {{"values", problem.values},
                 {"inputs", ranges_text(problem.inputs)},
                 {"outputs", ranges_text(problem.outputs)},
                 {"launch_ns", problem.launch_ns},
                 {"conversions", json::array()}};
  for (const ExplainedConversion& one : problem.conversions)
    object["conversions"].push_back({{"from", one.from},
                                     {"to", one.to},
                                     {"backend", one.backend},
                                     {one.estimated ? "estimated_ns" : "ns", one.ns},
                                     {"values", ranges_text(one.values)}});
  return object;
}

json to_json(const ExplainedNode& node) {
  json object = {{"name", node.name}, {"chosen", node.chosen}};
  if (node.flops > 0) object["flops"] = node.flops;
  for (const auto& [key, list] : {std::pair{"inputs", &node.inputs},
                                  {"outputs", &node.outputs},
                                  {"offers", &node.offers},
                                  {"unmeasured", &node.unmeasured},
                                  {"refusals", &node.refusals},
                                  {"rules", &node.rules},
                                  {"user_rules", &node.user_rules}})
    if (!list->empty()) object[key] = fmt::format("{}", fmt::join(*list, ","));
  return object;
}

}  // namespace

std::optional<Nanoseconds> model_gap_ns(const Explanation& explanation) {
  return difference(explanation.cover_ns, explanation.model_bound_ns);
}
std::optional<Nanoseconds> proven_gap_ns(const Explanation& explanation) {
  return difference(explanation.cover_ns, explanation.proven_bound_ns);
}
std::optional<Nanoseconds> additive_error_ns(const Explanation& explanation) {
  return difference(explanation.measured_ns, explanation.cover_ns);
}
std::optional<Nanoseconds> optimality_loss_ns(const Explanation& explanation) {
  return difference(explanation.measured_ns, explanation.proven_bound_ns);
}

const ExplainedCandidate* runner_up_of(const Explanation& explanation, const ExplainedNode& node) {
  for (const auto* list : {&node.offers, &node.unmeasured})
    if (!list->empty()) return &explanation.candidates[list->front()];
  return nullptr;
}

const ExplainedNode* find_node(const Explanation& explanation, std::string_view name) {
  const auto found = std::ranges::find(explanation.nodes, name, &ExplainedNode::name);
  return found == explanation.nodes.end() ? nullptr : &*found;
}

std::string_view name_of(MarginBy by) { return name_in(kMargins, by); }

std::string_view name_of(Unmeasured why) { return name_in(kUnmeasured, why); }

std::string ranges_text(const Positions& positions) {
  std::string text;
  for (std::size_t first = 0; first < positions.size();) {
    std::size_t last = first;
    while (last + 1 < positions.size() && positions[last + 1] == positions[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", positions[first]);
    if (last > first) text += fmt::format("-{}", positions[last]);
    first = last + 1;
  }
  return text;
}

json explanation_to_json(const Explanation& explanation) {
  json object = {{"plan", explanation.plan},
                 {"cover", explanation.cover},
                 {"backends", explanation.backends},
                 {"fillers", explanation.fillers},
                 {"only", explanation.only},
                 {"absent", explanation.absent},
                 {"alternatives_complete", explanation.alternatives_complete},
                 {"why_no_alternatives", explanation.why_no_alternatives},
                 {"apparent_loss_against", explanation.apparent_loss_against},
                 {"proposals", explanation.proposals},
                 {"sum", to_json(explanation.sum)}};
  put(object, "cover_ns", explanation.cover_ns);
  put(object, "model_bound_ns", explanation.model_bound_ns);
  put(object, "proven_bound_ns", explanation.proven_bound_ns);
  put(object, "measured_ns", explanation.measured_ns);
  put(object, "apparent_loss_ns", explanation.apparent_loss_ns);
  for (const char* key : {"candidates", "refusals", "rules", "user_rules", "alternatives", "nodes"})
    object[key] = json::array();
  for (const auto& candidate : explanation.candidates) object["candidates"].push_back(to_json(candidate));
  for (const auto& refusal : explanation.refusals) object["refusals"].push_back(to_json(refusal));
  for (const auto& rule : explanation.rules)
    object["rules"].push_back({{"pin", rule.is_pin}, {"glob", rule.glob}, {"backend", rule.backend}});
  for (const auto& rule : explanation.user_rules) object["user_rules"].push_back(to_json(rule));
  for (const auto& alternative : explanation.alternatives) object["alternatives"].push_back(to_json(alternative));
  for (const auto& node : explanation.nodes) object["nodes"].push_back(to_json(node));
  if (explanation.precision) object["precision"] = to_json(*explanation.precision);
  if (explanation.peak) object["peak"] = to_json(*explanation.peak);
  if (!explanation.problem.values.empty()) object["problem"] = to_json(explanation.problem);
  return object;
}

}  // namespace collage
