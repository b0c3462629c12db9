#include "tune/explain/stored_problem.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace collage {
namespace {

constexpr Nanoseconds kLongest = Nanoseconds{1} << 50U;  // two weeks
/// Of one value; the search numbers fewer than 32, and adds the plain one of each location itself.
constexpr std::size_t kMostPlaces = 15;

/// Memory does not count here, so that types do not matter.
ValueType any_type() { return ValueType::tensor(ElementType::kFloat32, {1}); }

Place place_named(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {.location = kHome, .format = Format{text}};
  return {.location = text.substr(0, slash), .format = Format{text.substr(slash + 1)}};
}

std::vector<Format> formats_of(const std::vector<std::string>& names, std::size_t ports) {
  std::vector<Format> formats(ports);
  for (std::size_t i = 0; i < std::min(ports, names.size()); ++i) formats[i].name = names[i];
  return formats;
}

bool is_sound(const std::optional<Nanoseconds>& ns) { return !ns || (*ns >= 0 && *ns <= kLongest); }

bool are_unique(const std::vector<std::string>& names) {
  std::unordered_set<std::string_view> seen;
  return std::ranges::all_of(names, [&](const std::string& name) { return !name.empty() && seen.insert(name).second; });
}

bool are_ascending(const std::vector<std::uint32_t>& positions) {
  return std::ranges::is_sorted(positions, std::ranges::less_equal());
}

/// Every value is the caller's or made once, by a node before all that read it.
bool are_in_order(const Explanation& explanation) {
  std::vector<bool> is_made(explanation.problem.values.size());
  const auto make = [&](std::uint32_t v) {
    const bool is_new = !is_made[v];
    is_made[v] = true;
    return is_new;
  };
  if (!std::ranges::all_of(explanation.problem.inputs, make)) return false;
  for (const ExplainedNode& node : explanation.nodes) {
    if (!std::ranges::all_of(node.inputs, [&](std::uint32_t v) { return is_made[v]; })) return false;
    if (!std::ranges::all_of(node.outputs, make)) return false;
  }
  return std::ranges::all_of(explanation.problem.outputs, [&](std::uint32_t v) { return is_made[v]; });
}

bool is_sound(const ExplainedCandidate& candidate) {
  return is_sound(candidate.cost_ns) && are_ascending(candidate.nodes) && are_ascending(candidate.repeated) &&
         std::ranges::includes(candidate.nodes, candidate.repeated) &&
         candidate.nodes.size() > candidate.repeated.size();
}

std::vector<std::string> node_names(const Explanation& explanation) {
  std::vector<std::string> names;
  for (const ExplainedNode& node : explanation.nodes) names.push_back(node.name);
  return names;
}

/// The engine that runs the whole model, if one ships: its time is no sum of costs alone.
bool is_whole_engine(const Explanation& explanation, const ExplainedCandidate& candidate) {
  return explanation.plan != explanation.cover && &candidate == &explanation.candidates[explanation.nodes[0].chosen];
}

}  // namespace

StoredProblem::StoredProblem(const Explanation& explanation) : explanation_(&explanation) {
  for (const std::string& name : explanation.problem.values) ids_.push_back(add_value(graph_, name, any_type()));
  graph_.inputs = values_at(explanation.problem.inputs);
  graph_.outputs = values_at(explanation.problem.outputs);
  for (const ExplainedNode& explained : explanation.nodes) {
    Node node;
    node.name = explained.name;
    node.op_type = "Node";
    node.inputs = values_at(explained.inputs);
    node.outputs = values_at(explained.outputs);
    add_node(graph_, std::move(node));
  }
  uses_ = uses_of(graph_);
  for (const ExplainedCandidate& candidate : explanation.candidates)
    regions_.push_back(candidate.repeated.empty()
                           ? make_region(graph_, uses_, set_of(candidate.nodes))
                           : make_region(graph_, uses_, set_of(candidate.nodes), set_of(candidate.repeated)));
  for (const ExplainedConversion& one : explanation.problem.conversions) {
    const Cost cost = one.estimated ? Cost(Estimated{.ns = one.ns})
                                    : Cost(Measured{.median_ns = one.ns, .low_ns = one.ns, .high_ns = one.ns});
    for (const std::uint32_t value : one.values)
      conversions_[{ids_[value].index, place_named(one.from), place_named(one.to)}] = {.backend = one.backend,
                                                                                       .cost = cost};
  }
}

Result<StoredProblem> StoredProblem::of(const Explanation& explanation) {
  const auto refused = [](std::string saw) {
    return fail(ExitCode::kBadInput, "plan/no-problem", "the plan", std::move(saw),
                "a plan that this version tuned with more than one backend");
  };
  const ExplainedProblem& stored = explanation.problem;
  if (stored.values.empty() || explanation.nodes.empty()) return refused("no costs of candidates to choose from");
  const bool are_sound =
      are_unique(stored.values) && are_unique(node_names(explanation)) && are_in_order(explanation) &&
      is_sound(std::optional(stored.launch_ns)) &&
      std::ranges::all_of(explanation.candidates, [](const ExplainedCandidate& one) { return is_sound(one); }) &&
      std::ranges::all_of(stored.conversions,
                          [](const ExplainedConversion& one) { return is_sound(std::optional(one.ns)); });
  if (!are_sound) return refused("damaged nodes, candidates or conversions");
  StoredProblem problem(explanation);
  if (!problem.has_sound_candidates()) return refused("damaged candidates");
  return problem;
}

bool StoredProblem::has_sound_candidates() const {
  const Reachability reach(graph_, uses_);
  std::vector<std::set<Place>> places(ids_.size());
  for (std::size_t c = 0; c < regions_.size(); ++c) {
    const ExplainedCandidate& explained = explanation_->candidates[c];
    const Region& region = regions_[c];
    if (!explained.cost_ns) continue;
    for (const auto& [names, values] :
         {std::pair{&explained.input_formats, &region.inputs}, {&explained.output_formats, &region.outputs}}) {
      if (!names->empty() && names->size() != values->size()) return false;
      const std::vector<Format> formats = formats_of(*names, values->size());
      for (std::size_t i = 0; i < values->size(); ++i)
        places[(*values)[i].index].insert({.location = explained.location, .format = formats[i]});
    }
    if (!reach.is_convex(region.nodes)) return false;
  }
  return std::ranges::all_of(places, [](const std::set<Place>& of) { return of.size() <= kMostPlaces; });
}

Result<SearchResult> StoredProblem::best(const std::function<bool(const ExplainedCandidate&)>& is_allowed) const {
  std::vector<SearchCandidate> usable;
  for (std::size_t c = 0; c < regions_.size(); ++c) {
    const ExplainedCandidate& explained = explanation_->candidates[c];
    if (explained.cost_ns && !is_whole_engine(*explanation_, explained) && is_allowed(explained))
      usable.push_back(candidate(c));
  }
  const BoundaryTable boundaries = [this](ValueId value, const Place& from, const Place& to) {
    const auto found = conversions_.find({value.index, from, to});
    return found == conversions_.end() ? std::nullopt : std::optional(found->second);
  };
  return choose_cover(graph_, uses_, usable, boundaries, {.launch_ns = explanation_->problem.launch_ns});
}

std::vector<ValueId> StoredProblem::values_at(const std::vector<std::uint32_t>& positions) const {
  std::vector<ValueId> values;
  for (const std::uint32_t p : positions) values.push_back(ids_[p]);
  return values;
}

NodeSet StoredProblem::set_of(const std::vector<std::uint32_t>& nodes) const {
  return node_set(graph_, {nodes.begin(), nodes.end()});
}

SearchCandidate StoredProblem::candidate(std::size_t c) const {
  const ExplainedCandidate& explained = explanation_->candidates[c];
  const Region& region = regions_[c];
  const Nanoseconds ns = *explained.cost_ns;
  return {.region = &region,
          .backend = explained.backend,
          .variant = {.name = explained.variant,
                      .input_formats = formats_of(explained.input_formats, region.inputs.size()),
                      .output_formats = formats_of(explained.output_formats, region.outputs.size())},
          .cost = explained.estimated ? Cost(Estimated{.ns = ns})
                                      : Cost(Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns}),
          .location = explained.location};
}

}  // namespace collage
