#include "plan/explanation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collage {
namespace {

using nlohmann::json;
using Positions = std::vector<std::uint32_t>;

constexpr std::array<std::pair<MarginBy, std::string_view>, 4> kMargins = {{{MarginBy::kNothing, ""},
                                                                            {MarginBy::kExchange, "exchange"},
                                                                            {MarginBy::kCover, "cover"},
                                                                            {MarginBy::kEndToEnd, "end-to-end"}}};

std::optional<Nanoseconds> difference(const std::optional<Nanoseconds>& a, const std::optional<Nanoseconds>& b) {
  return a && b ? std::optional(*a - *b) : std::nullopt;
}

// ---- writing -------------------------------------------------------------------------------------------------

void put(json& object, const char* key, const std::optional<Nanoseconds>& ns) {
  if (ns) object[key] = *ns;
}

/// "0-3,7": one line of JSON whatever the size of the set.
std::string ranges_of(const Positions& nodes) {
  std::string text;
  for (std::size_t first = 0; first < nodes.size();) {
    std::size_t last = first;
    while (last + 1 < nodes.size() && nodes[last + 1] == nodes[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", nodes[first]);
    if (last > first) text += fmt::format("-{}", nodes[last]);
    first = last + 1;
  }
  return text;
}

json to_json(const ExplainedCandidate& candidate) {
  json object = {{"backend", candidate.backend}, {"variant", candidate.variant}, {"nodes", ranges_of(candidate.nodes)}};
  put(object, candidate.estimated ? "estimated_ns" : "cost_ns", candidate.cost_ns);
  put(object, "cost_at_least_ns", candidate.cost_at_least_ns);
  put(object, "margin_ns", candidate.margin_ns);
  put(object, "margin_at_least_ns", candidate.margin_at_least_ns);
  if (candidate.margin_by != MarginBy::kNothing) object["margin_by"] = name_of(candidate.margin_by);
  return object;
}

json to_json(const ExplainedRefusal& refusal) {
  return {{"backend", refusal.backend},
          {"variant", refusal.variant},
          {"reason", refusal.reason},
          {"detail", refusal.detail},
          {"nodes", refusal.nodes}};
}

json to_json(const ExplainedNode& node) {
  json object = {{"name", node.name}, {"chosen", node.chosen}};
  for (const auto& [key, list] : {std::pair{"offers", &node.offers},
                                  {"unmeasured", &node.unmeasured},
                                  {"refusals", &node.refusals},
                                  {"rules", &node.rules}})
    if (!list->empty()) object[key] = fmt::format("{}", fmt::join(*list, ","));
  return object;
}

// ---- reading -------------------------------------------------------------------------------------------------

/// What a reader throws when the text does not have the promised form; never leaves this file.
struct Damage {
  std::string saw;
};

std::uint32_t position(std::string_view text, std::size_t limit) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= limit)
    throw Damage{"position '" + std::string(text) + "'"};
  return value;
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
    if (result.size() > limit) throw Damage{fmt::format("more than {} positions", limit)};
  }
  return result;
}

std::optional<Nanoseconds> ns(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (!found->is_number_integer()) throw Damage{std::string(key) + " that is no whole number"};
  return found->get<Nanoseconds>();
}

ExplainedCandidate read_candidate(const json& object, std::size_t nodes) {
  ExplainedCandidate candidate{.backend = object.at("backend"), .variant = object.at("variant")};
  candidate.nodes = positions(object, "nodes", nodes);
  candidate.estimated = object.contains("estimated_ns");
  candidate.cost_ns = ns(object, candidate.estimated ? "estimated_ns" : "cost_ns");
  candidate.cost_at_least_ns = ns(object, "cost_at_least_ns");
  candidate.margin_ns = ns(object, "margin_ns");
  candidate.margin_at_least_ns = ns(object, "margin_at_least_ns");
  const std::string by = object.value("margin_by", std::string());
  for (const auto& [margin, name] : kMargins)
    if (name == by) candidate.margin_by = margin;
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
  const std::size_t candidates = explanation.candidates.size();
  for (const json& entry : nodes) {
    ExplainedNode node{.name = entry.at("name"), .chosen = entry.at("chosen")};
    if (node.chosen >= candidates) throw Damage{fmt::format("position {}", node.chosen)};
    node.offers = positions(entry, "offers", candidates);
    node.unmeasured = positions(entry, "unmeasured", candidates);
    node.refusals = positions(entry, "refusals", explanation.refusals.size());
    node.rules = positions(entry, "rules", explanation.rules.size());
    explanation.nodes.push_back(std::move(node));
  }
}

Explanation read(const json& object) {
  Explanation explanation;
  explanation.plan = object.at("plan");
  explanation.cover = object.at("cover");
  explanation.backends = object.at("backends").get<std::vector<std::string>>();
  explanation.fillers = object.at("fillers").get<std::vector<std::string>>();
  explanation.only = object.at("only");
  for (const auto& [backend, why] : object.at("absent").items()) explanation.absent[backend] = why.get<std::string>();
  explanation.why_unmeasured = object.at("why_unmeasured");
  explanation.cover_ns = ns(object, "cover_ns");
  explanation.model_bound_ns = ns(object, "model_bound_ns");
  explanation.proven_bound_ns = ns(object, "proven_bound_ns");
  explanation.measured_ns = ns(object, "measured_ns");
  explanation.apparent_loss_ns = ns(object, "apparent_loss_ns");
  explanation.apparent_loss_against = object.at("apparent_loss_against");
  read_lists(object, explanation);
  return explanation;
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

std::string_view name_of(MarginBy by) {
  for (const auto& [margin, name] : kMargins)
    if (margin == by) return name;
  return "";
}

std::string to_json(const Explanation& explanation) {
  json object = {{"plan", explanation.plan},
                 {"cover", explanation.cover},
                 {"backends", explanation.backends},
                 {"fillers", explanation.fillers},
                 {"only", explanation.only},
                 {"absent", explanation.absent},
                 {"why_unmeasured", explanation.why_unmeasured},
                 {"apparent_loss_against", explanation.apparent_loss_against}};
  put(object, "cover_ns", explanation.cover_ns);
  put(object, "model_bound_ns", explanation.model_bound_ns);
  put(object, "proven_bound_ns", explanation.proven_bound_ns);
  put(object, "measured_ns", explanation.measured_ns);
  put(object, "apparent_loss_ns", explanation.apparent_loss_ns);
  for (const char* key : {"candidates", "refusals", "rules", "nodes"}) object[key] = json::array();
  for (const auto& candidate : explanation.candidates) object["candidates"].push_back(to_json(candidate));
  for (const auto& refusal : explanation.refusals) object["refusals"].push_back(to_json(refusal));
  for (const auto& rule : explanation.rules)
    object["rules"].push_back({{"pin", rule.is_pin}, {"glob", rule.glob}, {"backend", rule.backend}});
  for (const auto& node : explanation.nodes) object["nodes"].push_back(to_json(node));
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Explanation> parse_explanation(std::string_view text, const std::string& label) {
  const auto damaged = [&](std::string saw) {
    return fail(ExitCode::kBadInput, "plan/no-explanation", label, std::move(saw), "a plan that `tune` explained");
  };
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return damaged("no explanation");
  try {
    return read(object);
  } catch (const Damage& damage) {
    return damaged(damage.saw);
  } catch (const json::exception& exception) {
    return damaged(exception.what());
  }
}

}  // namespace collage
