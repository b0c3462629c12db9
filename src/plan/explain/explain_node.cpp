#include "plan/explain/explain_node.h"

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "plan/explain/explain_json.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNames = 16;

ordered_json candidate_as_json(const Explanation& explanation, const ExplainedCandidate& candidate) {
  ordered_json names = ordered_json::array();
  for (std::size_t i = 0; i < std::min(candidate.nodes.size(), kMostNames); ++i)
    names.push_back(explanation.nodes[candidate.nodes[i]].name);
  ordered_json object = {{"backend", candidate.backend},
                         {"variant", candidate.variant},
                         {"nodes", names},
                         {"node_count", candidate.nodes.size()}};
  if (!candidate.repeated.empty()) object["repeated_count"] = candidate.repeated.size();
  put_us(object, "cost_us", candidate.cost_ns);
  if (candidate.estimated) object["estimated"] = true;
  put_us(object, "cost_at_least_us", candidate.cost_at_least_ns);
  put_us(object, "margin_us", candidate.margin_ns);
  if (candidate.margin_by != MarginBy::kNothing) object["margin_by"] = name_of(candidate.margin_by);
  if (!candidate.cost_ns) put_us(object, "at_least_us", candidate.margin_at_least_ns);
  return object;
}

std::string list_text(const Explanation& explanation, const char* title, const std::vector<std::uint32_t>& list) {
  std::string text;
  for (const std::uint32_t c : list) {
    const ExplainedCandidate& candidate = explanation.candidates[c];
    const std::string margin = describe_margin(candidate);
    text += fmt::format("  {:<10} {}{}{}\n", text.empty() ? title : "", describe(candidate), margin.empty() ? "" : "; ",
                        margin);
    if (candidate.why_unmeasured != Unmeasured::kUnknown)
      text += fmt::format("  {:<10} because {}\n", "", describe(candidate.why_unmeasured));
  }
  return text;
}

}  // namespace

Result<Explanation> explanation_in(const Plan& plan) {
  if (plan.report && plan.report->explanation) return *plan.report->explanation;
  return fail(ExitCode::kBadInput, "plan/no-explanation", plan.model_path, "no explanation",
              "a plan that `tune` explained");
}

std::string describe(const ExplainedCandidate& candidate) {
  std::string text = fmt::format("{}/{} on {} node{}", candidate.backend, candidate.variant, candidate.nodes.size(),
                                 candidate.nodes.size() == 1 ? "" : "s");
  if (!candidate.repeated.empty())
    text += fmt::format(", {} of them run by other steps too", candidate.repeated.size());
  if (candidate.cost_ns)
    return text + fmt::format(", {}{:.1f} us", candidate.estimated ? "about " : "", to_us(*candidate.cost_ns));
  if (candidate.cost_at_least_ns) text += fmt::format(", at least {:.1f} us", to_us(*candidate.cost_at_least_ns));
  return text;
}

std::string describe_margin(const ExplainedCandidate& candidate) {
  if (!candidate.cost_ns && candidate.margin_at_least_ns) {
    const double least = to_us(*candidate.margin_at_least_ns);
    if (least >= 0)
      return fmt::format("never measured, but no cover with it is cheaper, at best {:.1f} us dearer", least);
    return fmt::format("never measured; a cover with it could be up to {:.1f} us cheaper", -least);
  }
  if (!candidate.margin_ns) return "";
  const double margin = to_us(*candidate.margin_ns);
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

std::string_view describe(Unmeasured why) {
  switch (why) {
    case Unmeasured::kStopped:
      return "the tune was stopped before its turn";
    case Unmeasured::kOutOfTime:
      return "the budget ran out before its turn";
    case Unmeasured::kNotNeeded:
      return "forecasts said that no best cover would use it";
    case Unmeasured::kUnknown:
      break;
  }
  return "";
}

std::string node_as_text(const Explanation& explanation, const ExplainedNode& node) {
  std::string text = fmt::format("{}\n  {:<10} {}\n", node.name, "runs", describe(explanation.candidates[node.chosen]));
  text += list_text(explanation, "offers", node.offers);
  text += list_text(explanation, "unmeasured", node.unmeasured);
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
    object["unmeasured"].back()["why"] = describe(explanation.candidates[c].why_unmeasured);
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

}  // namespace collage
