#include "plan/explain/explain_cover.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "plan/explain/explain_json.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

/// Steps of an alternative that are named in its line.
constexpr std::size_t kMostSteps = 4;

ordered_json gap_as_json(const std::optional<Nanoseconds>& gap, const std::optional<Nanoseconds>& cover) {
  if (!gap) return nullptr;
  const double share = cover && *cover > 0 ? static_cast<double>(*gap) / static_cast<double>(*cover) : 0;
  return {{"us", to_us(*gap)}, {"share", share}};
}

std::string gap_text(const char* name, const std::optional<Nanoseconds>& gap, const Explanation& explanation) {
  if (!gap || !explanation.cover_ns || *explanation.cover_ns <= 0) return "";
  return fmt::format("  {} {:.1f} us ({:.1f} %)\n", name, to_us(*gap),
                     100 * static_cast<double>(*gap) / static_cast<double>(*explanation.cover_ns));
}

/// Who runs which nodes: the nodes of each backend and variant together, in the order of the first.
std::vector<std::pair<std::string, std::vector<std::uint32_t>>> by_runner(const Explanation& explanation,
                                                                          const ExplainedAlternative& alternative) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> runners;
  for (const std::uint32_t c : alternative.steps) {
    const ExplainedCandidate& step = explanation.candidates[c];
    const std::string name = step.backend + "/" + step.variant;
    auto found = std::ranges::find(runners, name, &std::pair<std::string, std::vector<std::uint32_t>>::first);
    if (found == runners.end()) found = runners.insert(runners.end(), {name, {}});
    found->second.insert(found->second.end(), step.nodes.begin(), step.nodes.end());
  }
  for (auto& [name, nodes] : runners) {
    std::ranges::sort(nodes);
    const auto rest = std::ranges::unique(nodes);  // two steps may compute the same node
    nodes.erase(rest.begin(), rest.end());
  }
  return runners;
}

std::string alternative_text(const Explanation& explanation, const ExplainedAlternative& alternative) {
  const auto runners = by_runner(explanation, alternative);
  std::string text =
      fmt::format("  {:>+10.1f} us  {} node{} change{} hands:", to_us(alternative.cost_ns - *explanation.cover_ns),
                  alternative.changed, alternative.changed == 1 ? "" : "s", alternative.changed == 1 ? "s" : "");
  for (std::size_t r = 0; r < std::min(runners.size(), kMostSteps); ++r)
    text += fmt::format("{} {} to {}", r == 0 ? "" : ",", ranges_text(runners[r].second), runners[r].first);
  if (runners.size() > kMostSteps) text += fmt::format(", and to {} others", runners.size() - kMostSteps);
  return text + "\n";
}

/// "; no mix of these candidates to less than 9.0 us", "" when that is not known.
std::string bounds_text(const Explanation& explanation) {
  if (!explanation.model_bound_ns) return "";
  return fmt::format("; no mix of these candidates to less than {:.1f} us", to_us(*explanation.model_bound_ns));
}

}  // namespace

ordered_json gaps_as_json(const Explanation& explanation) {
  ordered_json object = {{"cover", explanation.cover}};
  put_us(object, "cover_us", explanation.cover_ns);
  put_us(object, "model_bound_us", explanation.model_bound_ns);
  put_us(object, "proven_bound_us", explanation.proven_bound_ns);
  object["model_gap"] = gap_as_json(model_gap_ns(explanation), explanation.cover_ns);
  object["proven_gap"] = gap_as_json(proven_gap_ns(explanation), explanation.cover_ns);
  return object;
}

ordered_json losses_as_json(const Explanation& explanation) {
  ordered_json object = {{"cover", explanation.cover}};
  put_us(object, "measured_us", explanation.measured_ns);
  for (const char* key : {"additive_error", "apparent_loss", "optimality_loss"}) object[key] = nullptr;
  if (const auto error = additive_error_ns(explanation)) object["additive_error"] = {{"us", to_us(*error)}};
  if (explanation.apparent_loss_ns)
    object["apparent_loss"] = {{"us", to_us(*explanation.apparent_loss_ns)},
                               {"against", explanation.apparent_loss_against}};
  if (const auto loss = optimality_loss_ns(explanation)) object["optimality_loss"] = {{"at_most_us", to_us(*loss)}};
  return object;
}

std::string totals_as_text(const Explanation& explanation) {
  std::string text;
  if (explanation.cover_ns)
    text += fmt::format("plan \"{}\" adds up to {:.1f} us{}\n", explanation.cover, to_us(*explanation.cover_ns),
                        bounds_text(explanation));
  text += gap_text("model gap, to the best cover under what was measured:  ", model_gap_ns(explanation), explanation);
  text += gap_text("proven gap, whatever was not measured:                 ", proven_gap_ns(explanation), explanation);
  if (const auto error = additive_error_ns(explanation))
    text += fmt::format("  additive_error, measured end to end less that sum:       {:.1f} us\n", to_us(*error));
  if (explanation.apparent_loss_ns)
    text += fmt::format("  apparent_loss, against {}: {:.1f} us\n", explanation.apparent_loss_against,
                        to_us(*explanation.apparent_loss_ns));
  if (const auto loss = optimality_loss_ns(explanation))
    text += fmt::format("  optimality_loss, against any cover:           at most {:.1f} us\n", to_us(*loss));
  return text;
}

ordered_json alternatives_as_json(const Explanation& explanation) {
  ordered_json covers = ordered_json::array();
  for (const ExplainedAlternative& alternative : explanation.alternatives) {
    ordered_json steps = ordered_json::array();
    for (const std::uint32_t c : alternative.steps) {
      const ExplainedCandidate& step = explanation.candidates[c];
      steps.push_back({{"backend", step.backend}, {"variant", step.variant}, {"positions", ranges_text(step.nodes)}});
      put_us(steps.back(), "cost_us", step.cost_ns);
    }
    covers.push_back(
        {{"cost_us", to_us(alternative.cost_ns)}, {"changed_nodes", alternative.changed}, {"steps", steps}});
    if (explanation.cover_ns) covers.back()["more_us"] = to_us(alternative.cost_ns - *explanation.cover_ns);
  }
  return {{"covers", covers},
          {"complete", explanation.alternatives_complete},
          {"why_none", explanation.why_no_alternatives}};
}

std::string alternatives_as_text(const Explanation& explanation) {
  if (!explanation.cover_ns) return "";
  if (!explanation.why_no_alternatives.empty())
    return "other covers were not searched: " + explanation.why_no_alternatives + "\n";
  if (explanation.alternatives.empty()) return "";
  std::string text = fmt::format("{} covers that differ in more than copies of one block, against \"{}\"\n",
                                 explanation.alternatives_complete ? "the next best" : "good", explanation.cover);
  for (const ExplainedAlternative& alternative : explanation.alternatives)
    text += alternative_text(explanation, alternative);
  return text;
}

}  // namespace collage
