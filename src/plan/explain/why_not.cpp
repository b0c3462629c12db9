#include "plan/explain/why_not.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/roles.h"
#include "base/json_numbers.h"
#include "base/suggest.h"
#include "plan/explain/explain_json.h"
#include "plan/explain/explain_node.h"
#include "plan/explain/explain_steps.h"
#include "region/cover.h"
#include "region/instance_name.h"

namespace collage {
namespace {

constexpr std::array<std::pair<WhyNot, std::string_view>, 14> kVerdicts = {{
    {WhyNot::kRuns, "runs"},
    {WhyNot::kDearer, "dearer"},
    {WhyNot::kCheaperAlone, "cheaper-alone"},
    {WhyNot::kUnmeasured, "unmeasured"},
    {WhyNot::kPinned, "pinned"},
    {WhyNot::kBanned, "banned"},
    {WhyNot::kRuled, "ruled"},
    {WhyNot::kRefused, "refused"},
    {WhyNot::kAbsent, "absent"},
    {WhyNot::kFills, "fills"},
    {WhyNot::kOnly, "only"},
    {WhyNot::kNotAsked, "not-asked"},
    {WhyNot::kNoOffer, "no-offer"},
    {WhyNot::kSimplified, "simplified"},
}};

struct Answer {
  WhyNot verdict = WhyNot::kNoOffer;
  std::string why;                                ///< one sentence
  const ExplainedCandidate* chosen = nullptr;     ///< who runs the node
  const ExplainedCandidate* candidate = nullptr;  ///< of the backend asked about
  std::vector<std::string> refusals;              ///< beside `why`
};

bool any_means(const std::vector<std::string>& instances, const std::string& name) {
  return std::ranges::any_of(instances, [&](const std::string& instance) { return is_instance_of(instance, name); });
}

const PlanStep* step_of(const Plan& plan, const std::string& node) {
  for (const PlanStep& step : plan.steps)
    if (std::ranges::find(nodes_of(step).names, node) != nodes_of(step).names.end()) return &step;
  return nullptr;
}

/// The step with the node in its bodies.
const PlanStep* holder_of(const PlanBody& plan, const std::string& node) {
  for (const PlanStep& step : plan.steps)
    for (const PlanBody& body : bodies_of(step)) {
      const bool is_here = std::ranges::any_of(body.steps, [&](const PlanStep& inside) {
        return std::ranges::find(nodes_of(inside).names, node) != nodes_of(inside).names.end();
      });
      if (is_here || holder_of(body, node) != nullptr) return &step;
    }
  return nullptr;
}

/// The first candidate of the backend among some of the explanation's.
const ExplainedCandidate* first_of(const Explanation& explanation, const std::vector<std::uint32_t>& list,
                                   const std::string& backend) {
  for (const std::uint32_t c : list)
    if (is_instance_of(explanation.candidates[c].backend, backend)) return &explanation.candidates[c];
  return nullptr;
}

/// The rule that keeps the backend off the node; null when none does.
const ExplainedRule* rule_against(const Explanation& explanation, const ExplainedNode& node,
                                  const std::string& backend) {
  for (const std::uint32_t r : node.rules) {
    const ExplainedRule& rule = explanation.rules[r];
    // A rule may name a kind and the question an instance, or the other way round.
    const bool names = is_instance_of(backend, rule.backend) || is_instance_of(rule.backend, backend);
    if (names != rule.is_pin) return &rule;
  }
  return nullptr;
}

/// The rule that makes the node part of a step of others; null when none does.
const ExplainedUserRule* rule_for_others(const Explanation& explanation, const ExplainedNode& node,
                                         const std::string& backend) {
  for (const std::uint32_t r : node.user_rules) {
    const ExplainedUserRule& rule = explanation.user_rules[r];
    const bool is_theirs =
        rule.backend != "*" && !is_instance_of(backend, rule.backend) && !is_instance_of(rule.backend, backend);
    if (rule.takes_others && is_theirs) return &rule;
  }
  return nullptr;
}

/// Why a backend that was asked has nothing to say about a node: who decided which regions it was asked about.
Answer never_proposed(const Explanation& explanation, const ExplainedNode& node, const std::string& backend) {
  for (const std::uint32_t r : node.user_rules) {
    const ExplainedUserRule& rule = explanation.user_rules[r];
    if (rule.takes_others)
      return {.verdict = WhyNot::kRuled,
              .why = fmt::format("{} ({}) leaves one region with the node, of which it has no candidate", rule.where,
                                 rule.text)};
  }
  std::string rules;
  for (const auto& [name, text] : explanation.proposals)
    if (is_instance_of(name, backend)) rules = text;
  if (rules.empty()) return {.verdict = WhyNot::kNoOffer, .why = "none of its rules proposes a region with the node"};
  return {.verdict = WhyNot::kNoOffer,
          .why = "it is asked about the regions that its rules propose, and none of them has the node: " + rules};
}

/// Why a backend without candidate or refusal at the node was not asked about it.
Answer never_asked(const Explanation& explanation, const ExplainedNode& node, const std::string& backend) {
  for (const auto& [name, why] : explanation.absent)
    if (is_instance_of(name, backend))
      return {.verdict = WhyNot::kAbsent, .why = name + " cannot be used here: " + why};
  if (any_means(explanation.fillers, backend))
    return {.verdict = WhyNot::kFills,
            .why = fmt::format("it takes only nodes that {} refuse", fmt::join(explanation.backends, ", "))};
  if (!explanation.only.empty() && !is_instance_of(explanation.only, backend))
    return {.verdict = WhyNot::kOnly, .why = "--only " + explanation.only};
  if (!any_means(explanation.backends, backend))
    return {.verdict = WhyNot::kNotAsked,
            .why = fmt::format("--backends were {}", fmt::join(explanation.backends, ","))};
  return never_proposed(explanation, node, backend);
}

Answer answer_about(const Explanation& explanation, const ExplainedNode& node, const std::string& backend) {
  if (const ExplainedCandidate* offer = first_of(explanation, node.offers, backend)) {
    const std::string margin = describe_margin(*offer);
    return {.verdict = offer->margin_ns.value_or(0) < 0 ? WhyNot::kCheaperAlone : WhyNot::kDearer,
            .why = "its best offer is " + describe(*offer) + (margin.empty() ? "" : "; " + margin),
            .candidate = offer};
  }
  if (const ExplainedCandidate* offer = first_of(explanation, node.unmeasured, backend)) {
    const std::string_view why = describe(offer->why_unmeasured);
    const std::string because = why.empty() ? "" : fmt::format(", because {}", why);
    const std::string margin = describe_margin(*offer);
    return {.verdict = WhyNot::kUnmeasured,
            .why = describe(*offer) + " was never measured" + because + (margin.empty() ? "" : "; " + margin),
            .candidate = offer};
  }
  Answer answer;
  for (const std::uint32_t r : node.refusals)
    if (is_instance_of(explanation.refusals[r].backend, backend))
      answer.refusals.push_back(describe(explanation.refusals[r]));
  if (const ExplainedRule* rule = rule_against(explanation, node, backend)) {
    answer.verdict = rule->is_pin ? WhyNot::kPinned : WhyNot::kBanned;
    answer.why = describe(*rule) + " names the node";
    return answer;
  }
  if (const ExplainedUserRule* rule = rule_for_others(explanation, node, backend)) {
    answer.verdict = WhyNot::kRuled;
    answer.why = fmt::format("{} ({}) makes the node part of one step of {}", rule->where, rule->text, rule->backend);
    return answer;
  }
  if (answer.refusals.empty()) return never_asked(explanation, node, backend);
  answer.verdict = WhyNot::kRefused;
  answer.why = std::exchange(answer.refusals.front(), {});
  answer.refusals.erase(answer.refusals.begin());
  return answer;
}

Result<Answer> answer_to(const Plan& plan, const WhyNotQuestion& question, const Explanation& explanation) {
  const ExplainedNode* node = find_node(explanation, question.node);
  const PlanStep* step = step_of(plan, question.node);
  if (!node && !step)
    return fail(ExitCode::kUsage, "plan/no-such-node", plan.model_path, "node " + question.node,
                "a node of the plan; `explain PLAN --json -` lists all");
  const ExplainedCandidate* chosen = node ? &explanation.candidates[node->chosen] : nullptr;
  const std::string& runs = chosen ? chosen->backend : step->backend;
  if (is_instance_of(runs, question.backend))
    return Answer{.verdict = WhyNot::kRuns, .why = runs + " runs it", .chosen = chosen};
  if (!node)
    return Answer{.verdict = WhyNot::kSimplified,
                  .why = runs +
                         " runs the user's file as a whole; in the simplified graph, the one others were asked "
                         "about, there is no such node"};
  Answer answer = answer_about(explanation, *node, question.backend);
  answer.chosen = chosen;
  return answer;
}

/// Everybody the plan speaks of.
std::vector<std::string> backends_in(const Plan& plan, const Explanation& explanation) {
  std::vector<std::string> names = {kHostBackend, std::string(kControlBackend)};
  for (const auto* list : {&explanation.backends, &explanation.fillers})
    names.insert(names.end(), list->begin(), list->end());
  for (const auto& [name, why] : explanation.absent) names.push_back(name);
  for (const ExplainedCandidate& one : explanation.candidates) names.push_back(one.backend);
  for (const ExplainedRefusal& one : explanation.refusals) names.push_back(one.backend);
  for (const ExplainedRule& rule : explanation.rules) names.push_back(rule.backend);
  for (const PlanBackend& backend : plan.backends) names.push_back(backend.name);
  for (const PlanStep& step : plan.steps) names.push_back(step.backend);
  if (!explanation.only.empty()) names.push_back(explanation.only);
  return names;
}

/// Error plan/no-such-backend for a name that neither the plan nor the program has.
Result<WhyNotQuestion> question_about(const Plan& plan, const Result<Explanation>& explanation, WhyNotQuestion question,
                                      std::span<const std::string> kinds) {
  std::vector<std::string> known = backends_in(plan, explanation.value_or(Explanation()));
  known.insert(known.end(), kinds.begin(), kinds.end());
  const std::string kind = question.backend.substr(0, question.backend.find(':'));
  if (any_means(known, question.backend) || any_means(known, kind)) return question;
  std::ranges::sort(known);
  const auto rest = std::ranges::unique(known);
  known.erase(rest.begin(), rest.end());
  return fail(ExitCode::kUsage, "plan/no-such-backend", "--why-not",
              "backend " + question.backend + did_you_mean(question.backend, known),
              fmt::format("one of {}", fmt::join(known, ", ")));
}

Result<Answer> answer_from(const Plan& plan, const WhyNotQuestion& question, Explanation& explanation) {
  COLLAGE_TRY(explanation, explanation_in(plan));
  return answer_to(plan, question, explanation);
}

}  // namespace

std::string_view name_of(WhyNot verdict) {
  for (const auto& [known, name] : kVerdicts)
    if (known == verdict) return name;
  return "";
}

Result<WhyNotQuestion> parse_why_not(const Plan& plan, const std::string& text, std::span<const std::string> kinds) {
  const auto explanation = explanation_in(plan);
  if (text.find('=') == std::string::npos || text.back() == '=' || text.front() == '=')
    return fail(ExitCode::kUsage, "cli/bad-option", "--why-not", text, "NODE=BACKEND");
  for (std::size_t split = text.rfind('='); split != std::string::npos && split > 0;
       split = text.rfind('=', split - 1)) {
    const std::string node = text.substr(0, split);
    if ((explanation && find_node(*explanation, node)) || step_of(plan, node))
      return question_about(plan, explanation, {.node = node, .backend = text.substr(split + 1)}, kinds);
  }
  const std::string node = text.substr(0, text.rfind('='));
  if (const PlanStep* holder = holder_of(plan, node))
    return fail(ExitCode::kUsage, "plan/no-such-node", plan.model_path,
                fmt::format("node {} inside a body of {}", node, nodes_of(*holder).names.front()),
                "a node outside of bodies: of those inside a plan keeps only the steps");
  const std::set<std::string> names = all_nodes(plan, explanation.value_or(Explanation()));
  return fail(ExitCode::kUsage, "plan/no-such-node", plan.model_path,
              "node " + node + did_you_mean(node, std::vector<std::string>(names.begin(), names.end())),
              "a node of the plan; `explain PLAN --json -` lists all");
}

Result<std::string> why_not_as_text(const Plan& plan, const WhyNotQuestion& question) {
  Explanation explanation;
  COLLAGE_TRY(const Answer answer, answer_from(plan, question, explanation));
  if (answer.verdict == WhyNot::kRuns) {
    const std::string what = answer.chosen ? " (" + describe(*answer.chosen) + ")" : "";
    return fmt::format("{}: {}{}\n", question.node, answer.why, what);
  }
  std::string text =
      fmt::format("{} does not run {}: {}: {}\n", question.backend, question.node, name_of(answer.verdict), answer.why);
  for (const std::string& refusal : answer.refusals) text += "  " + refusal + "\n";
  if (answer.chosen) text += "  chosen: " + describe(*answer.chosen) + "\n";
  return text;
}

Result<std::string> why_not_as_json(const Plan& plan, const WhyNotQuestion& question) {
  Explanation explanation;
  COLLAGE_TRY(const Answer answer, answer_from(plan, question, explanation));
  nlohmann::ordered_json object = {
      {"schema", "collage.why-not/1"},      {"node", question.node}, {"backend", question.backend},
      {"verdict", name_of(answer.verdict)}, {"why", answer.why},     {"refusals", answer.refusals}};
  if (const ExplainedCandidate* offer = answer.candidate) {
    object["offer"] = {{"backend", offer->backend}, {"variant", offer->variant}, {"node_count", offer->nodes.size()}};
    if (offer->cost_ns) object["offer"]["cost_us"] = to_us(*offer->cost_ns);
    if (offer->margin_ns) object["offer"]["margin_us"] = to_us(*offer->margin_ns);
    if (offer->margin_by != MarginBy::kNothing) object["offer"]["margin_by"] = name_of(offer->margin_by);
    if (!offer->cost_ns && offer->margin_at_least_ns)
      object["offer"]["at_least_us"] = to_us(*offer->margin_at_least_ns);
  }
  if (answer.chosen)
    object["chosen"] = {{"backend", answer.chosen->backend},
                        {"variant", answer.chosen->variant},
                        {"node_count", answer.chosen->nodes.size()}};
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace collage
