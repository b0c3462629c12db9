#include "plan/explain_node.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNames = 16;

double us(Nanoseconds ns) { return static_cast<double>(ns) / 1000; }

void put(ordered_json& object, const char* key, const std::optional<Nanoseconds>& ns) {
  if (ns) object[key] = us(*ns);
}

ordered_json candidate_as_json(const Explanation& explanation, const ExplainedCandidate& candidate) {
  ordered_json names = ordered_json::array();
  for (std::size_t i = 0; i < std::min(candidate.nodes.size(), kMostNames); ++i)
    names.push_back(explanation.nodes[candidate.nodes[i]].name);
  ordered_json object = {{"backend", candidate.backend},
                         {"variant", candidate.variant},
                         {"nodes", names},
                         {"node_count", candidate.nodes.size()}};
  put(object, "cost_us", candidate.cost_ns);
  if (candidate.estimated) object["estimated"] = true;
  put(object, "cost_at_least_us", candidate.cost_at_least_ns);
  put(object, "margin_us", candidate.margin_ns);
  if (candidate.margin_by != MarginBy::kNothing) object["margin_by"] = name_of(candidate.margin_by);
  if (!candidate.cost_ns) put(object, "at_least_us", candidate.margin_at_least_ns);
  return object;
}

ordered_json gap_as_json(const std::optional<Nanoseconds>& gap, const std::optional<Nanoseconds>& cover) {
  if (!gap) return nullptr;
  const double share = cover && *cover > 0 ? static_cast<double>(*gap) / static_cast<double>(*cover) : 0;
  return {{"us", us(*gap)}, {"share", share}};
}

std::string list_text(const Explanation& explanation, const char* title, const std::vector<std::uint32_t>& list) {
  std::string text;
  for (const std::uint32_t c : list) {
    const ExplainedCandidate& candidate = explanation.candidates[c];
    const std::string margin = describe_margin(candidate);
    text += fmt::format("  {:<10} {}{}{}\n", text.empty() ? title : "", describe(candidate), margin.empty() ? "" : "; ",
                        margin);
  }
  return text;
}

std::string gap_text(const char* name, const std::optional<Nanoseconds>& gap, const Explanation& explanation) {
  if (!gap || !explanation.cover_ns || *explanation.cover_ns <= 0) return "";
  return fmt::format("  {} {:.1f} us ({:.1f} %)\n", name, us(*gap),
                     100 * static_cast<double>(*gap) / static_cast<double>(*explanation.cover_ns));
}

}  // namespace

Result<Explanation> explanation_in(const std::string& report_json, const std::string& label) {
  const auto report = nlohmann::json::parse(report_json, nullptr, false);
  const bool has_one = report.is_object() && report.contains("explanation");
  return parse_explanation(
      has_one ? report["explanation"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : "", label);
}

std::string describe(const ExplainedCandidate& candidate) {
  std::string text = fmt::format("{}/{} on {} node{}", candidate.backend, candidate.variant, candidate.nodes.size(),
                                 candidate.nodes.size() == 1 ? "" : "s");
  if (candidate.cost_ns)
    return text + fmt::format(", {}{:.1f} us", candidate.estimated ? "about " : "", us(*candidate.cost_ns));
  if (candidate.cost_at_least_ns) text += fmt::format(", at least {:.1f} us", us(*candidate.cost_at_least_ns));
  return text;
}

std::string describe_margin(const ExplainedCandidate& candidate) {
  if (!candidate.cost_ns && candidate.margin_at_least_ns) {
    const double least = us(*candidate.margin_at_least_ns);
    if (least >= 0)
      return fmt::format("never measured, but no cover with it is cheaper, at best {:.1f} us dearer", least);
    return fmt::format("never measured; a cover with it could be up to {:.1f} us cheaper", -least);
  }
  if (!candidate.margin_ns) return "";
  const double margin = us(*candidate.margin_ns);
  const std::string more = fmt::format("{:.1f} us {}", margin < 0 ? -margin : margin, margin < 0 ? "less" : "more");
  switch (candidate.margin_by) {
    case MarginBy::kExchange:
      return "put in its place the cover costs " + more;
    case MarginBy::kCover:
      return "another cover, with it, costs " + more;
    case MarginBy::kEndToEnd:
      return "the best plan with it took " + more + " end to end";
    case MarginBy::kNothing:
      break;
  }
  return "";
}

std::string describe(const ExplainedRefusal& refusal) {
  std::string text = refusal.backend + (refusal.variant.empty() ? "" : "/" + refusal.variant);
  text += refusal.nodes == 1 ? " refused it alone" : fmt::format(" refused it among {} nodes", refusal.nodes);
  return text + ": " + refusal.reason + (refusal.detail.empty() ? "" : ": " + refusal.detail);
}

std::string describe(const ExplainedRule& rule) {
  return fmt::format("{} {}={}", rule.is_pin ? "--pin" : "--ban", rule.glob, rule.backend);
}

std::string node_as_text(const Explanation& explanation, const ExplainedNode& node) {
  std::string text = fmt::format("{}\n  {:<10} {}\n", node.name, "runs", describe(explanation.candidates[node.chosen]));
  text += list_text(explanation, "offers", node.offers);
  text += list_text(explanation, "unmeasured", node.unmeasured);
  if (!node.unmeasured.empty() && !explanation.why_unmeasured.empty())
    text += fmt::format("  {:<10} {}\n", "", "because " + explanation.why_unmeasured);
  for (const std::uint32_t refusal : node.refusals) text += "  " + describe(explanation.refusals[refusal]) + "\n";
  for (const std::uint32_t rule : node.rules) text += "  named by " + describe(explanation.rules[rule]) + "\n";
  return text;
}

ordered_json node_as_json(const Explanation& explanation, const ExplainedNode& node) {
  const auto candidate = [&](std::uint32_t c) { return candidate_as_json(explanation, explanation.candidates[c]); };
  const ExplainedCandidate* second = runner_up_of(explanation, node);
  ordered_json object = {{"node", node.name}, {"chosen", candidate(node.chosen)}};
  object["runner_up"] = second ? candidate_as_json(explanation, *second) : ordered_json(nullptr);
  for (const char* key : {"offers", "unmeasured", "refusals", "rules"}) object[key] = ordered_json::array();
  for (const std::uint32_t c : node.offers) object["offers"].push_back(candidate(c));
  for (const std::uint32_t c : node.unmeasured) {
    object["unmeasured"].push_back(candidate(c));
    object["unmeasured"].back()["why"] = explanation.why_unmeasured;
  }
  for (const std::uint32_t r : node.refusals) {
    const ExplainedRefusal& refusal = explanation.refusals[r];
    object["refusals"].push_back({{"backend", refusal.backend},
                                  {"variant", refusal.variant},
                                  {"reason", refusal.reason},
                                  {"detail", refusal.detail},
                                  {"node_count", refusal.nodes}});
  }
  for (const std::uint32_t r : node.rules) object["rules"].push_back(describe(explanation.rules[r]));
  return object;
}

ordered_json gaps_as_json(const Explanation& explanation) {
  ordered_json object = {{"cover", explanation.cover}};
  put(object, "cover_us", explanation.cover_ns);
  put(object, "model_bound_us", explanation.model_bound_ns);
  put(object, "proven_bound_us", explanation.proven_bound_ns);
  object["model_gap"] = gap_as_json(model_gap_ns(explanation), explanation.cover_ns);
  object["proven_gap"] = gap_as_json(proven_gap_ns(explanation), explanation.cover_ns);
  return object;
}

ordered_json losses_as_json(const Explanation& explanation) {
  ordered_json object = {{"cover", explanation.cover}};
  put(object, "measured_us", explanation.measured_ns);
  for (const char* key : {"additive_error", "apparent_loss", "optimality_loss"}) object[key] = nullptr;
  if (const auto error = additive_error_ns(explanation)) object["additive_error"] = {{"us", us(*error)}};
  if (explanation.apparent_loss_ns)
    object["apparent_loss"] = {{"us", us(*explanation.apparent_loss_ns)},
                               {"against", explanation.apparent_loss_against}};
  if (const auto loss = optimality_loss_ns(explanation)) object["optimality_loss"] = {{"at_most_us", us(*loss)}};
  return object;
}

std::string totals_as_text(const Explanation& explanation) {
  std::string text;
  if (explanation.cover_ns)
    text += fmt::format("cover \"{}\" adds up to {:.1f} us\n", explanation.cover, us(*explanation.cover_ns));
  text += gap_text("model gap, to the best cover under what was measured:  ", model_gap_ns(explanation), explanation);
  text += gap_text("proven gap, whatever was not measured:                 ", proven_gap_ns(explanation), explanation);
  if (const auto error = additive_error_ns(explanation))
    text += fmt::format("  additive_error, measured end to end less that sum:       {:.1f} us\n", us(*error));
  if (explanation.apparent_loss_ns)
    text += fmt::format("  apparent_loss, against {}: {:.1f} us\n", explanation.apparent_loss_against,
                        us(*explanation.apparent_loss_ns));
  if (const auto loss = optimality_loss_ns(explanation))
    text += fmt::format("  optimality_loss, against any cover:           at most {:.1f} us\n", us(*loss));
  return text;
}

}  // namespace collage
