#include <fmt/format.h>

#include "search/search.h"

namespace collage {
namespace {

/// The steps of one cover, those of bodies further to the right. Bodies keep their nodes' numbers, so their own graphs
/// name them.
void write_steps(const Graph& graph, const Cover& cover, const std::string& indent, std::string& text) {
  for (const CoverStep& step : cover.steps) {
    if (step.region.nodes.universe() == 0) {
      text += fmt::format("{}{} {} {}: {} -> {}\n", indent, name_of(step.kind), step.backend,
                          graph.value(step.value).name, to_string(step.from), to_string(step.to));
      continue;
    }
    text += fmt::format("{}{} {}/{}:", indent, name_of(step.kind), step.backend, step.variant.name);
    for (std::size_t n : step.region.nodes.members())
      text += (step.region.repeats(n) ? " ~" : " ") + graph.nodes[n].name;
    text += "\n";
    if (step.bodies.empty()) continue;
    const std::vector<const Graph*> bodies = bodies_of(graph.nodes[step.region.nodes.next()]);
    for (std::size_t b = 0; b < step.bodies.size() && b < bodies.size(); ++b) {
      text += fmt::format("{}  body {}\n", indent, bodies[b]->name);
      write_steps(*bodies[b], step.bodies[b], indent + "    ", text);
    }
  }
}

}  // namespace

std::string to_text(const Graph& graph, const Cover& cover) {
  std::string text;
  write_steps(graph, cover, "", text);
  return text + fmt::format("cost {} ns\n", cover.cost_ns);
}

}  // namespace collage
