#include <fmt/format.h>

#include "search/search.h"

namespace collage {
namespace {

/// The steps of one cover, those of bodies further to the right. Bodies keep their nodes' numbers, so their own graphs
/// name them.
void write_steps(const Graph& graph, const Cover& cover, const std::string& indent, std::string& text) {
  for (const CoverStep& step : cover.steps) {
    if (const auto move = move_of(step)) {
      text += fmt::format("{}{} {} {}: {} -> {}\n", indent, kind_name(step), step.backend,
                          graph.value(move->value).name, to_string(move->from), to_string(move->to));
      continue;
    }
    const Region& region = *chosen_region(step);
    text += fmt::format("{}{} {}/{}:", indent, kind_name(step), step.backend, chosen_variant(step)->name);
    for (std::size_t n : region.nodes.members()) text += (region.repeats(n) ? " ~" : " ") + graph.nodes[n].name;
    text += "\n";
    const std::span<const Cover> covers = bodies_of(step);
    if (covers.empty()) continue;
    const std::vector<const Graph*> bodies = bodies_of(graph.nodes[region.nodes.next()]);
    for (std::size_t b = 0; b < covers.size() && b < bodies.size(); ++b) {
      text += fmt::format("{}  body {}\n", indent, bodies[b]->name);
      write_steps(*bodies[b], covers[b], indent + "    ", text);
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
