#include "tune/plan_decisions.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "plan/control.h"
#include "plan/realise.h"
#include "tune/price/bodies.h"

namespace collage {
namespace {

/// Reads the steps of a plan, or of a body in it, as steps of a cover.
class CoverReader {
 public:
  /// `where` is the plan, for messages.
  CoverReader(const PlanBody& plan, std::string where, const Graph& graph, const VariantSource& variants)
      : plan_(plan),
        where_(std::move(where)),
        graph_(graph),
        variants_(variants),
        uses_(uses_of(graph)),
        covered_(graph.nodes.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) nodes_.emplace(graph.nodes[n].name, n);
    for (std::uint32_t v = 0; v < graph.values.size(); ++v) values_.emplace(graph.values[v].name, ValueId{v});
  }

  Result<Cover> run() {
    Cover cover;
    for (const std::size_t s : cover_steps(plan_)) {
      COLLAGE_TRY(CoverStep step, nodes_of(plan_.steps[s]).names.empty() ? moved_value(s) : region_step(s));
      const PlanStep& from = plan_.steps[s];
      step.backend = from.backend;
      step.cost = Measured{.median_ns = from.cost_ns, .low_ns = from.cost_low_ns, .high_ns = from.cost_high_ns};
      if (from.is_estimated) step.cost = Estimated{.ns = from.cost_ns};
      step.runner_up = from.runner_up;
      cover.steps.push_back(std::move(step));
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!covered_.contains(n))
        return fail(ExitCode::kBadInput, "plan/other-graph", where_, "no step for node " + graph_.nodes[n].name,
                    "a plan of this graph");
    return cover;
  }

 private:
  std::unexpected<Error> other_graph(std::size_t step, const std::string& saw) const {
    const PlanStep& from = plan_.steps[step];
    std::string what = "a conversion";
    if (const std::vector<std::string>& nodes = nodes_of(from).names; !nodes.empty())
      what = nodes.front();
    else if (!from.inputs.empty())
      what = value(from.inputs.front()).name;
    return fail(ExitCode::kBadInput, "plan/other-graph",
                fmt::format("{}: step {} ({}/{} at {})", where_, step, from.backend, from.variant, what), saw,
                "the graph that the plan was made for");
  }

  const PlanValue& value(PlanIndex index) const { return plan_.values[index]; }

  /// A conversion, a transfer, or a view without nodes.
  Result<CoverStep> moved_value(std::size_t s) const {
    const PlanStep& from = plan_.steps[s];
    if (is_kernel(from) || std::holds_alternative<PlanControl>(from.work))
      return other_graph(s, "a step without nodes");
    if (from.inputs.size() != 1 || from.outputs.size() != 1) return other_graph(s, "a conversion of several values");
    const auto found = values_.find(value(from.inputs.front()).name);
    if (found == values_.end()) return other_graph(s, "no such value");
    const Place& read = value(from.inputs.front()).place;
    const Place& written = value(from.outputs.front()).place;
    CoverStep step;
    if (is_transfer(from))
      step.work = CoverTransfer{found->second, read.format, read.location, written.location};
    else if (is_view(from))
      step.work = CoverRename{found->second, read.location, read.format, written.format};
    else
      step.work = CoverConversion{found->second, read.location, read.format, written.format};
    return step;
  }

  Result<CoverStep> region_step(std::size_t s) {
    const PlanStep& from = plan_.steps[s];
    NodeSet nodes(graph_.nodes.size());
    NodeSet repeated(graph_.nodes.size());
    for (const std::string& name : nodes_of(from).names) {
      const auto found = nodes_.find(name);
      if (found == nodes_.end()) return other_graph(s, "no node " + name);
      nodes.insert(found->second);
      if (std::ranges::find(nodes_of(from).repeated, name) != nodes_of(from).repeated.end())
        repeated.insert(found->second);
      else if (covered_.contains(found->second))
        return other_graph(s, "node " + name + " in two steps");
    }
    covered_ |= nodes - repeated;
    Region region = make_region(graph_, uses_, std::move(nodes), std::move(repeated));
    if (structure_key(graph_, region) != nodes_of(from).structure)
      return other_graph(s, "nodes of these names with other operators, attributes, types or shapes");
    if (const auto* const placed = std::get_if<PlanControl>(&from.work)) return control(s, *placed, std::move(region));
    if (!has_values(from.outputs, region.outputs)) return other_graph(s, "other values that leave the step");
    if (is_kernel(from) && !has_values(from.inputs, region.inputs))
      return other_graph(s, "other values that enter the step");
    COLLAGE_TRY(Candidate chosen, offered(s, region));
    region.matches = std::move(chosen.matches);
    CoverStep step;
    if (is_view(from))
      step.work = CoverView{std::move(region), std::move(chosen.variant), location_of(from)};
    else
      step.work = CoverKernel{std::move(region), std::move(chosen.variant), location_of(from)};
    return step;
  }

  /// The ports of a control-flow operator are its node's; what it does inside is decided in its bodies.
  Result<CoverStep> control(std::size_t s, const PlanControl& from, Region region) const {
    CoverControl made{.region = std::move(region)};
    made.variant = placed_variant(made.region);
    const std::vector<Graph> bodies = free_bodies(graph_, graph_.nodes[made.region.nodes.next()]);
    if (from.nodes.names.size() != 1 || bodies.size() != from.bodies.size()) return other_graph(s, "other bodies");
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const std::string inside = fmt::format("{}: step {}, body {}", where_, s, bodies[b].name);
      COLLAGE_TRY(Cover body, CoverReader(from.bodies[b], inside, bodies[b], variants_).run());
      made.bodies.push_back(std::move(body));
    }
    return CoverStep{.work = std::move(made)};
  }

  bool has_values(const std::vector<PlanIndex>& ports, const std::vector<ValueId>& expected) const {
    return std::ranges::equal(ports, expected, [this](PlanIndex port, ValueId id) {
      return value(port).name == graph_.value(id).name && value(port).type == graph_.value(id).type;
    });
  }

  /// The backend's own variant of this name with the formats of the plan's values.
  Result<Candidate> offered(std::size_t s, const Region& region) const {
    const PlanStep& from = plan_.steps[s];
    COLLAGE_TRY(const std::vector<Candidate> offers, variants_(graph_, from.backend, region));
    for (const Candidate& offer : offers)
      if (offer.variant.name == from.variant && formats_fit(from.inputs, region.inputs, offer.variant.input_formats) &&
          formats_fit(from.outputs, region.outputs, offer.variant.output_formats))
        return offer;
    // Which variants of open kernels are offered depends on the extents of a recorded run; each takes every shape.
    if (!offers.empty() && has_open_input(region)) return as_planned(from, region);
    return fail(ExitCode::kUnsupported, "plan/other-variant",
                fmt::format("{}: step {} at {}", where_, s, nodes_of(from).names.front()),
                fmt::format("{} offers no variant {} with these formats", from.backend, from.variant),
                "the backend that the plan was made with");
  }

  [[nodiscard]] bool has_open_input(const Region& region) const {
    return std::ranges::any_of(region.inputs, [this](ValueId id) { return graph_.value(id).type.is_open(); });
  }

  [[nodiscard]] static Candidate as_planned(const PlanStep& from, const Region& region) {
    return {.backend = from.backend,
            .variant = {.name = from.variant,
                        .input_formats = std::vector<Format>(region.inputs.size()),
                        .output_formats = std::vector<Format>(region.outputs.size())}};
  }

  /// A view's plan step has its data input only, so ports are compared by name.
  bool formats_fit(const std::vector<PlanIndex>& ports, const std::vector<ValueId>& ids,
                   const std::vector<Format>& formats) const {
    if (formats.size() != ids.size()) return false;
    return std::ranges::all_of(ports, [&](PlanIndex port) {
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (graph_.value(ids[i]).name == value(port).name) return formats[i] == value(port).place.format;
      const auto found = values_.find(value(port).name);
      return found != values_.end() && graph_.value(found->second).constant.has_value();
    });
  }

  const PlanBody& plan_;
  const std::string where_;
  const Graph& graph_;
  const VariantSource& variants_;
  const Uses uses_;
  NodeSet covered_;
  std::unordered_map<std::string, std::size_t> nodes_;
  std::unordered_map<std::string, ValueId> values_;
};

}  // namespace

Result<Cover> cover_from_plan(const Plan& plan, const Graph& graph, const VariantSource& variants) {
  return CoverReader(plan, plan.model_path, graph, variants).run();
}

}  // namespace collage
