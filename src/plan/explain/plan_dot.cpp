#include "plan/explain/plan_dot.h"

#include <array>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/shorten.h"
#include "plan/explain/step_words.h"

namespace collage {
namespace {

constexpr std::size_t kNamesInBox = 3;
constexpr std::size_t kLongestLabel = 60;  ///< bytes
/// Light enough for black text.
constexpr std::array kColours = {"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                 "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9"};

/// Between quotes: what DOT gives a meaning has a backslash before it, and no byte ends the line.
std::string quoted_label(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

class DotWriter {
 public:
  explicit DotWriter(const Plan& plan) {
    for (const PlanBackend& backend : plan.backends)
      colours_.emplace(backend.name, kColours.at(colours_.size() % kColours.size()));
    text_ = fmt::format(
        "digraph {} {{\n  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n",
        quoted_label(plan.shipped));
    add(plan, "");
    text_ += "}\n";
  }

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  /// The steps of a model or of a body, whose names in the picture begin with `prefix`.
  void add(const PlanBody& plan, const std::string& prefix) {
    std::map<PlanIndex, std::string> maker;  // of a value: a name in the picture
    for (std::size_t i = 0; i < plan.inputs.size(); ++i)
      maker[plan.inputs[i]] = add_end(plan, plan.inputs[i], fmt::format("{}in{}", prefix, i));
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const std::string name = fmt::format("{}s{}", prefix, s);
      add_step(plan, s, name);
      for (const PlanIndex value : plan.steps[s].inputs) add_arrow(plan, value, maker, name);
      for (const PlanIndex value : plan.steps[s].outputs) maker[value] = name;
    }
    for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
      const std::string name = add_end(plan, plan.outputs[i], fmt::format("{}out{}", prefix, i));
      add_arrow(plan, plan.outputs[i], maker, name);
    }
  }

  std::string add_end(const PlanBody& plan, PlanIndex value, const std::string& name) {
    text_ += fmt::format("  {} [shape=ellipse, label={}];\n", name,
                         quoted_label(shortened(plan.values[value].name, kLongestLabel)));
    return name;
  }

  void add_step(const PlanBody& plan, std::size_t index, const std::string& name) {
    const PlanStep& step = plan.steps[index];
    const std::string time =
        step.cost_ns == 0 ? "" : fmt::format("{}{:.1f} us", step.is_estimated ? "~" : "", to_us(step.cost_ns));
    const auto colour = colours_.find(step.backend);
    // A line break in a label is a backslash and an n, which quoting would break up.
    text_ +=
        fmt::format("  {} [fillcolor=\"{}\"{}, label={}];\n", name, colour == colours_.end() ? "white" : colour->second,
                    is_view(step) ? ", style=\"filled,dashed\"" : "",
                    lines({fmt::format("{}: {}", index, who(step)),
                           shortened(what(plan, step, kNamesInBox), kLongestLabel), time}));
    std::size_t number = 0;
    for (const PlanBody& body : bodies_of(step)) {
      const std::string inside = fmt::format("{}b{}_", name, number++);
      text_ += fmt::format("  subgraph cluster_{} {{\n  label={};\n", inside,
                           quoted_label(shortened(body.name, kLongestLabel)));
      add(body, inside);
      text_ += "  }\n";
    }
  }

  static std::string lines(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts) {
      if (part.empty()) continue;
      const std::string label = quoted_label(part);
      text += (text.empty() ? "" : "\\n") + label.substr(1, label.size() - 2);
    }
    return "\"" + text + "\"";
  }

  /// Constants come from nowhere.
  void add_arrow(const PlanBody& plan, PlanIndex value, const std::map<PlanIndex, std::string>& maker,
                 const std::string& reader) {
    const auto from = maker.find(value);
    if (value == kNoValue || from == maker.end()) return;
    const PlanValue& moved = plan.values[value];
    std::string what = to_string(moved.type);
    if (!moved.place.format.is_plain()) what += " " + moved.place.format.name;
    text_ += fmt::format("  {} -> {} [label={}];\n", from->second, reader, quoted_label(what));
  }

  std::map<std::string, const char*> colours_;
  std::string text_;
};

}  // namespace

std::string plan_as_dot(const Plan& plan) { return DotWriter(plan).take(); }

}  // namespace collage
