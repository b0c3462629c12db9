#include <fmt/format.h>

#include "search/search.h"

namespace collage {
namespace {

/// The format alone at home, else "location/format".
std::string place(const std::string& location, const Format& format) {
  return location == kHome ? format.name : location + "/" + format.name;
}

}  // namespace

std::string to_text(const Graph& graph, const Cover& cover) {
  std::string text;
  for (const CoverStep& step : cover.steps) {
    if (step.region.nodes.universe() == 0) {
      text += fmt::format("{} {} {}: {} -> {}\n", step.kind == StepKind::kView ? "view" : "convert", step.backend,
                          graph.value(step.value).name, place(step.from_location, step.from),
                          place(step.to_location, step.to));
      continue;
    }
    text += fmt::format("{} {}/{}:", step.kind == StepKind::kView ? "view" : "kernel", step.backend, step.variant.name);
    for (std::size_t n : step.region.nodes.members()) text += " " + graph.nodes[n].name;
    text += "\n";
  }
  return text + fmt::format("cost {} ns\n", cover.cost_ns);
}

}  // namespace collage
