#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_numbers.h"
#include "base/number_text.h"
#include "plan/explain/explanation.h"
#include "plan/file/plan_report_json.h"

namespace collage {
namespace {

using nlohmann::json;
using Positions = std::vector<std::uint32_t>;

/// "0-99999" is short: without a limit a small file would take all memory.
constexpr std::size_t kMostPorts = 10'000'000;

std::uint32_t position(std::string_view text, std::size_t limit) {
  const auto value = number_in<std::uint32_t>(text);
  if (!value || *value >= limit) throw JsonFault{{}, "position '" + std::string(text) + "'"};
  return *value;
}

/// "3,4,9-12" below `limit`.
Positions positions(const json& object, const char* key, std::size_t limit) {
  Positions result;
  const std::string list = object.value(key, std::string());
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view entry = rest.substr(0, comma);
    rest = rest.substr(std::min(comma + 1, rest.size()));
    const std::size_t dash = std::min(entry.find('-'), entry.size());
    const std::uint32_t first = position(entry.substr(0, dash), limit);
    const std::uint32_t last = dash < entry.size() ? position(entry.substr(dash + 1), limit) : first;
    for (std::uint32_t p = first; p <= last; ++p) result.push_back(p);
    if (result.size() > limit) throw JsonFault{{}, fmt::format("more than {} positions", limit)};
  }
  return result;
}

/// Sums and differences of a few such times are times.
constexpr Nanoseconds kLongestNs = Nanoseconds{1} << 60;

std::optional<Nanoseconds> ns(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_number_integer()) throw JsonFault{{}, std::string(key) + " that is no whole number"};
  const auto time = found->get<Nanoseconds>();
  if (time < -kLongestNs || time > kLongestNs) throw JsonFault{{}, std::string(key) + " of more than thirty years"};
  return time;
}

std::optional<double> share(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::nullopt : std::optional(found->get<double>());
}

/// The value with this name; `other` for names that are not known.
template <class T>
T named(std::initializer_list<T> values, T other, std::string_view name) {
  for (const T value : values)
    if (name_of(value) == name) return value;
  return other;
}

ExplainedCandidate read_candidate(const json& object, std::size_t nodes) {
  ExplainedCandidate candidate{.backend = object.at("backend"), .variant = object.at("variant")};
  candidate.nodes = positions(object, "nodes", nodes);
  candidate.repeated = positions(object, "repeated", nodes);
  candidate.estimated = object.contains("estimated_ns");
  candidate.cost_ns = ns(object, candidate.estimated ? "estimated_ns" : "cost_ns");
  candidate.cost_at_least_ns = ns(object, "cost_at_least_ns");
  candidate.margin_ns = ns(object, "margin_ns");
  candidate.margin_at_least_ns = ns(object, "margin_at_least_ns");
  candidate.margin_by = named({MarginBy::kExchange, MarginBy::kCover, MarginBy::kEndToEnd}, MarginBy::kNothing,
                              object.value("margin_by", std::string()));
  candidate.why_unmeasured = named({Unmeasured::kStopped, Unmeasured::kOutOfTime, Unmeasured::kNotNeeded},
                                   Unmeasured::kUnknown, object.value("why_unmeasured", std::string()));
  candidate.input_formats = object.value("input_formats", std::vector<std::string>());
  candidate.output_formats = object.value("output_formats", std::vector<std::string>());
  candidate.location = object.value("location", std::string(kHome));
  return candidate;
}

void read_lists(const json& object, Explanation& explanation) {
  const json& nodes = object.at("nodes");
  for (const json& candidate : object.at("candidates"))
    explanation.candidates.push_back(read_candidate(candidate, nodes.size()));
  for (const json& refusal : object.at("refusals"))
    explanation.refusals.push_back({.backend = refusal.at("backend"),
                                    .variant = refusal.at("variant"),
                                    .reason = refusal.at("reason"),
                                    .detail = refusal.at("detail"),
                                    .nodes = refusal.at("nodes")});
  for (const json& rule : object.at("rules"))
    explanation.rules.push_back({.is_pin = rule.at("pin"), .glob = rule.at("glob"), .backend = rule.at("backend")});
  for (const json& rule : object.value("user_rules", json::array()))
    explanation.user_rules.push_back({.where = rule.at("where"),
                                      .text = rule.at("text"),
                                      .backend = rule.at("backend"),
                                      .takes_others = rule.at("takes_others")});
  const std::size_t candidates = explanation.candidates.size();
  for (const json& entry : object.value("alternatives", json::array()))
    explanation.alternatives.push_back({.cost_ns = ns(entry, "cost_ns").value_or(0),
                                        .changed = entry.at("changed"),
                                        .steps = positions(entry, "steps", candidates)});
  std::size_t ports = 0;
  for (const json& entry : nodes) {
    ExplainedNode node{.name = entry.at("name"), .chosen = entry.at("chosen")};
    node.inputs = positions(entry, "inputs", explanation.problem.values.size());
    node.outputs = positions(entry, "outputs", explanation.problem.values.size());
    ports += node.inputs.size() + node.outputs.size();
    if (ports > kMostPorts) throw JsonFault{{}, fmt::format("more than {} inputs and outputs of nodes", kMostPorts)};
    node.flops = entry.value("flops", Operations{0});
    if (node.chosen >= candidates) throw JsonFault{{}, fmt::format("position {}", node.chosen)};
    node.offers = positions(entry, "offers", candidates);
    node.unmeasured = positions(entry, "unmeasured", candidates);
    node.refusals = positions(entry, "refusals", explanation.refusals.size());
    node.rules = positions(entry, "rules", explanation.rules.size());
    node.user_rules = positions(entry, "user_rules", explanation.user_rules.size());
    explanation.nodes.push_back(std::move(node));
  }
}

ExplainedSum read_sum(const json& object) {
  return {.measured_ns = object.at("measured_ns"),
          .estimated_ns = object.at("estimated_ns"),
          .launch_ns = object.at("launch_ns"),
          .measured = object.at("measured"),
          .estimated = object.at("estimated")};
}

ExplainedPrecision read_precision(const json& object) {
  ExplainedPrecision precision{.bound = object.at("bound"),
                               .share = object.at("share"),
                               .sets = object.at("sets"),
                               .predicted_share = share(object, "predicted_share"),
                               .steps = {}};
  for (const json& entry : object.at("steps"))
    precision.steps.push_back({.step = entry.at("step"),
                               .element = entry.at("element"),
                               .gain_ns = ns(entry, "gain_ns"),
                               .share = share(entry, "share")});
  return precision;
}

/// Rates that are none would make times of nothing.
ExplainedPeak read_peak(const json& object) {
  const auto rate = [&](const char* key) {
    const double value = object.at(key);
    if (!(value > 0)) throw JsonFault{key, fmt::format("a rate of {}", value)};
    return value;
  };
  return {.flops_per_ns = rate("flops_per_ns"),
          .cache_bytes_per_ns = rate("cache_bytes_per_ns"),
          .memory_bytes_per_ns = rate("memory_bytes_per_ns")};
}

ExplainedProblem read_problem(const json& object) {
  ExplainedProblem problem{
      .values = object.at("values"), .inputs = {}, .outputs = {}, .conversions = {}, .launch_ns = 0};
  const std::size_t count = problem.values.size();
  problem.inputs = positions(object, "inputs", count);
  problem.outputs = positions(object, "outputs", count);
  problem.launch_ns = ns(object, "launch_ns").value_or(0);
  for (const json& entry : object.at("conversions")) {
    const bool is_estimated = entry.contains("estimated_ns");
    problem.conversions.push_back({.from = entry.at("from"),
                                   .to = entry.at("to"),
                                   .backend = entry.at("backend"),
                                   .ns = ns(entry, is_estimated ? "estimated_ns" : "ns").value_or(0),
                                   .estimated = is_estimated,
                                   .values = positions(entry, "values", count)});
  }
  return problem;
}

Explanation read(const json& object) {
  Explanation explanation;
  explanation.plan = object.at("plan");
  explanation.cover = object.at("cover");
  explanation.backends = object.at("backends").get<std::vector<std::string>>();
  explanation.fillers = object.at("fillers").get<std::vector<std::string>>();
  explanation.only = object.at("only");
  for (const auto& [backend, why] : object.at("absent").items()) explanation.absent[backend] = why.get<std::string>();
  if (object.contains("proposals"))
    explanation.proposals = object["proposals"].get<std::map<std::string, std::string>>();
  if (object.contains("sum")) explanation.sum = read_sum(object["sum"]);
  explanation.cover_ns = ns(object, "cover_ns");
  explanation.model_bound_ns = ns(object, "model_bound_ns");
  explanation.proven_bound_ns = ns(object, "proven_bound_ns");
  explanation.measured_ns = ns(object, "measured_ns");
  explanation.apparent_loss_ns = ns(object, "apparent_loss_ns");
  explanation.apparent_loss_against = object.at("apparent_loss_against");
  explanation.alternatives_complete = object.value("alternatives_complete", false);
  explanation.why_no_alternatives = object.value("why_no_alternatives", std::string());
  if (object.contains("problem")) explanation.problem = read_problem(object["problem"]);
  read_lists(object, explanation);
  if (object.contains("precision")) explanation.precision = read_precision(object["precision"]);
  if (object.contains("peak")) explanation.peak = read_peak(object["peak"]);
  return explanation;
}

}  // namespace

Result<Explanation> explanation_from_json(const json& object, const std::string& label) {
  const auto damaged = [&](std::string saw) {
    return fail(ExitCode::kBadInput, "plan/no-explanation", label, std::move(saw), "a plan that `tune` explained");
  };
  if (!object.is_object() || object.empty()) return damaged("no explanation");
  return read_json([&] { return read(object); },
                   [&](const std::string&, std::string saw) { return damaged(std::move(saw)); });
}

}  // namespace collage
