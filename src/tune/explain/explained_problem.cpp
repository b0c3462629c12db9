#include "tune/explain/explained_problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace collage {
namespace {

using Positions = std::vector<std::uint32_t>;

NodeSet set_of(const Graph& graph, const Positions& nodes) { return node_set(graph, {nodes.begin(), nodes.end()}); }

class ProblemWriter {
 public:
  ProblemWriter(const Graph& graph, const BoundaryTable& conversions, Explanation& explanation)
      : graph_(graph), uses_(uses_of(graph)), conversions_(conversions), out_(explanation) {}

  void run() {
    for (const ValueId id : graph_.inputs) {
      out_.problem.inputs.push_back(position(id));
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Region alone = make_region(graph_, uses_, node_set(graph_, {n}));
      for (const ValueId id : alone.inputs) out_.nodes[n].inputs.push_back(position(id));
      for (const ValueId id : graph_.nodes[n].outputs)
        if (id.valid()) out_.nodes[n].outputs.push_back(position(id));
    }
    for (const ValueId id : graph_.outputs) {
      if (graph_.value(id).constant) continue;
      const std::uint32_t output = position(id);
      if (std::ranges::find(out_.problem.outputs, output) == out_.problem.outputs.end())
        out_.problem.outputs.push_back(output);
    }
    for (const ExplainedCandidate& candidate : out_.candidates) add_places(candidate);
    add_conversions();
  }

 private:
  static Place home() { return {.location = kHome, .format = plain()}; }

  std::uint32_t position(ValueId id) {
    const auto [found, is_new] = positions_.emplace(id.index, static_cast<std::uint32_t>(out_.problem.values.size()));
    if (is_new) {
      out_.problem.values.push_back(graph_.value(id).name);
      ids_.push_back(id);
    }
    return found->second;
  }

  void add_places(const ExplainedCandidate& candidate) {
    if (!candidate.cost_ns) return;
    const Region region = candidate.repeated.empty() ? make_region(graph_, uses_, set_of(graph_, candidate.nodes))
                                                     : make_region(graph_, uses_, set_of(graph_, candidate.nodes),
                                                                   set_of(graph_, candidate.repeated));
    const auto add = [&](const std::vector<ValueId>& values, const std::vector<std::string>& formats) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::set<Place>& places = places_[values[i].index];
        places.insert({.location = candidate.location, .format = i < formats.size() ? Format{formats[i]} : plain()});
        places.insert({.location = candidate.location, .format = plain()});
      }
    };
    add(region.inputs, candidate.input_formats);
    add(region.outputs, candidate.output_formats);
  }

  /// Between all places of a value: a way may lead over one that only another candidate reads.
  void add_conversions() {
    std::map<std::tuple<std::string, std::string, std::string, Nanoseconds, bool>, Positions> found;
    for (std::uint32_t v = 0; v < ids_.size(); ++v) {
      std::set<Place> places = places_[ids_[v].index];
      places.insert(home());
      for (const Place& a : places)
        for (const Place& b : places) {
          if (a == b) continue;
          const std::optional<BoundaryChoice> choice = conversions_(ids_[v], a, b);
          const auto ns = choice ? nanoseconds_of(choice->cost) : std::nullopt;
          if (!ns) continue;
          const bool is_estimated = std::holds_alternative<Estimated>(choice->cost);
          found[{to_string(a), to_string(b), choice->backend, *ns, is_estimated}].push_back(v);
        }
    }
    for (auto& [key, values] : found) {
      const auto& [from, to, backend, ns, is_estimated] = key;
      out_.problem.conversions.push_back({.from = from,
                                          .to = to,
                                          .backend = backend,
                                          .ns = ns,
                                          .estimated = is_estimated,
                                          .values = std::move(values)});
    }
  }

  const Graph& graph_;
  const Uses uses_;
  const BoundaryTable& conversions_;
  Explanation& out_;
  std::vector<ValueId> ids_;                                    ///< by position
  std::unordered_map<std::uint32_t, std::uint32_t> positions_;  ///< by value of the graph
  std::unordered_map<std::uint32_t, std::set<Place>> places_;   ///< by value of the graph, besides home
};

}  // namespace

void add_problem(const Graph& graph, const BoundaryTable& conversions, Nanoseconds launch_ns,
                 Explanation& explanation) {
  explanation.problem.launch_ns = launch_ns;
  ProblemWriter(graph, conversions, explanation).run();
}

}  // namespace collage
