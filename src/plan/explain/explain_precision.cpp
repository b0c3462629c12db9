#include "plan/explain/explain_precision.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "plan/explain/explain_json.h"

namespace collage {

using nlohmann::ordered_json;

namespace {

/// "0.042 %", "6.2 %", "120 %".
std::string percent(double share) {
  return share < 0.1 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

}  // namespace

const ExplainedNarrowStep* narrow_step_at(const Explanation& explanation, std::size_t step) {
  if (!explanation.precision) return nullptr;
  const auto found = std::ranges::find(explanation.precision->steps, step, &ExplainedNarrowStep::step);
  return found == explanation.precision->steps.end() ? nullptr : &*found;
}

std::string to_text(const ExplainedNarrowStep& step) {
  std::string text = fmt::format("16 bits ({})", step.element);
  if (step.gain_ns)
    text += fmt::format(": {} {:.1f} us alone", *step.gain_ns < 0 ? "loses" : "gains", std::abs(to_us(*step.gain_ns)));
  if (step.share) text += fmt::format("{} {} of the bound on outputs", step.gain_ns ? "," : ":", percent(*step.share));
  return text;
}

ordered_json to_ordered_json(const ExplainedNarrowStep& step) {
  ordered_json object = {{"element", step.element}};
  if (step.gain_ns) object["gain_us"] = to_us(*step.gain_ns);
  if (step.share) object["bound_share"] = *step.share;
  return object;
}

std::string precision_as_text(const Explanation& explanation) {
  if (!explanation.precision) return "";
  const ExplainedPrecision& precision = *explanation.precision;
  std::string text = fmt::format("{} step{} in 16 bits; the outputs err {} of what {} allows, on {} sets of inputs",
                                 precision.steps.size(), precision.steps.size() == 1 ? "" : "s",
                                 percent(precision.share), precision.bound, precision.sets);
  if (precision.predicted_share)
    text += fmt::format("\n  ({} foreseen from the errors of the steps)", percent(*precision.predicted_share));
  return text + "\n";
}

ordered_json precision_as_json(const Explanation& explanation) {
  if (!explanation.precision) return nullptr;
  const ExplainedPrecision& precision = *explanation.precision;
  ordered_json object = {{"bound", precision.bound},
                         {"bound_share", precision.share},
                         {"input_sets", precision.sets},
                         {"narrow_steps", precision.steps.size()}};
  if (precision.predicted_share) object["predicted_bound_share"] = *precision.predicted_share;
  return object;
}

}  // namespace collage
