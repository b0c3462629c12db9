#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.h"
#include "base/json_numbers.h"
#include "tune/explain/what_if.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNodes = 2;

std::string runner(const WhatIfStep& step) {
  return step.variant.empty() ? step.backend : step.backend + "/" + step.variant;
}

std::string rule_text(const WhatIfRule& rule) {
  return fmt::format("{} runs {}", rule.backend + (rule.variant.empty() ? "" : "/" + rule.variant), rule.node);
}

std::string what_text(const WhatIfStep& step) {
  if (!step.moved.empty()) return step.moved;
  const std::size_t shown = std::min(kMostNodes, step.nodes.size());
  const std::vector<std::string> first(step.nodes.begin(), step.nodes.begin() + static_cast<std::ptrdiff_t>(shown));
  const std::size_t more = step.nodes.size() - shown;
  return fmt::format("{}{}", fmt::join(first, " "), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string steps_text(const std::string& title, const std::vector<WhatIfStep>& steps) {
  if (steps.empty()) return "";
  std::string text = title + "\n";
  for (const WhatIfStep& step : steps)
    text += fmt::format("{:>10} us  {}\n{:>15}{}\n", fmt::format("{}{:.1f}", step.estimated ? "~" : "", to_us(step.ns)),
                        runner(step), "", what_text(step));
  return text;
}

ordered_json as_json(const std::vector<WhatIfStep>& steps) {
  ordered_json list = ordered_json::array();
  for (const WhatIfStep& step : steps) {
    list.push_back({{"backend", step.backend},
                    {"variant", step.variant},
                    {"nodes", step.nodes},
                    {"us", to_us(step.ns)},
                    {"estimated", step.estimated}});
    if (!step.moved.empty()) list.back()["moved"] = step.moved;
  }
  return list;
}

}  // namespace

std::string to_text(const WhatIf& answer, const std::optional<MeasuredWhatIf>& times) {
  std::vector<std::string> rules;
  for (const WhatIfRule& rule : answer.rules) rules.push_back(rule_text(rule));
  const Nanoseconds more = answer.under_ns - answer.best_ns;
  std::string text = fmt::format("if {}: {:+.1f} us ({:+.1f} %)\n", fmt::join(rules, " and "), to_us(more),
                                 answer.best_ns > 0 ? 100 * to_us(more) / to_us(answer.best_ns) : 0);
  text += fmt::format("  the best cover of the plan's candidates adds up to {:.1f} us, under this to {:.1f} us{}\n",
                      to_us(answer.best_ns), to_us(answer.under_ns), answer.exact ? "" : " (a limit ended the search)");
  if (times)
    text +=
        fmt::format("  timed end to end: {:.1f} us ({}), the plan at hand {:.1f} us: {:.2f}x [{:.2f}, {:.2f}]\n",
                    times->us, times->who, times->plan_us, times->faster.ratio, times->faster.low, times->faster.high);
  return text + steps_text("steps that go", answer.gone) + steps_text("steps that come", answer.added);
}

std::string to_json(const WhatIf& answer, const std::optional<MeasuredWhatIf>& times) {
  ordered_json rules = ordered_json::array();
  for (const WhatIfRule& rule : answer.rules)
    rules.push_back({{"node", rule.node}, {"backend", rule.backend}, {"variant", rule.variant}});
  ordered_json object = {{"schema", "collage.what-if/1"},
                         {"rules", rules},
                         {"best_us", to_us(answer.best_ns)},
                         {"under_us", to_us(answer.under_ns)},
                         {"more_us", to_us(answer.under_ns - answer.best_ns)},
                         {"exact", answer.exact},
                         {"gone", as_json(answer.gone)},
                         {"added", as_json(answer.added)}};
  if (times)
    object["measured"] = {
        {"who", times->who},
        {"us", times->us},
        {"plan_us", times->plan_us},
        {"faster", {{"ratio", times->faster.ratio}, {"low", times->faster.low}, {"high", times->faster.high}}}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace collage
