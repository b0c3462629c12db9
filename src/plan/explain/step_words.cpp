#include "plan/explain/step_words.h"

#include <algorithm>

#include <fmt/format.h>

namespace collage {

std::string who(const PlanStep& step) {
  return step.variant.empty() ? step.backend : step.backend + "/" + step.variant;
}

std::string what(const PlanBody& plan, const PlanStep& step, std::size_t most_names) {
  const StepNodes& nodes = nodes_of(step);
  if (nodes.names.empty() && !step.inputs.empty() && !step.outputs.empty()) {
    const PlanValue& from = plan.values[step.inputs.front()];
    const PlanValue& to = plan.values[step.outputs.front()];
    if (is_transfer(step)) return fmt::format("{}: {} to {}", from.name, from.place.location, to.place.location);
    if (from.place.format == to.place.format) return fmt::format("{}: copied", from.name);
    return fmt::format("{}: {} to {}", from.name, from.place.format.name, to.place.format.name);
  }
  const std::size_t shown = std::min(nodes.names.size(), most_names);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_repeated = std::ranges::find(nodes.repeated, nodes.names[i]) != nodes.repeated.end();
    text += (i == 0 ? "" : " ") + std::string(is_repeated ? "~" : "") + nodes.names[i];
  }
  if (shown < nodes.names.size()) text += fmt::format(" and {} more", nodes.names.size() - shown);
  return text;
}

}  // namespace collage
