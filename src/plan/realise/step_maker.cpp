#include "plan/realise/step_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "region/operand_checks.h"

namespace collage {
namespace {

/// Where parts lie in a whole; nothing for views of everything.
std::optional<Containment> containment_in(const Graph& graph, const CoverView& view) {
  const std::size_t node = view.region.nodes.next();
  if (node >= graph.nodes.size() || view.region.outputs.empty()) return std::nullopt;
  return containment_of(graph, graph.nodes[node], view.variant.output_formats.front());
}

StepNodes nodes_in(const Graph& graph, const Region& region) {
  StepNodes nodes;
  for (const std::size_t node : region.nodes.members()) {
    nodes.names.push_back(graph.nodes[node].name);
    if (region.repeats(node)) nodes.repeated.push_back(graph.nodes[node].name);
  }
  return nodes;
}

}  // namespace

void set_cost(PlanStep& step, const Cost& cost) {
  step.cost_ns = step.cost_low_ns = step.cost_high_ns = nanoseconds_of(cost).value_or(0);
  step.is_estimated = std::holds_alternative<Estimated>(cost);
  if (const auto* measured = std::get_if<Measured>(&cost)) {
    step.cost_low_ns = measured->low_ns;
    step.cost_high_ns = measured->high_ns;
  }
}

Result<void> StepMaker::add(const CoverStep& from, const Artifact* artifact) {
  if (has_artifact(from) && artifact == nullptr)
    return bad_cover(fmt::format("step {}", draft_.next_step()), "no artifact", "one");
  PlanStep step{.backend = from.backend, .runner_up = from.runner_up};
  set_cost(step, from.cost);
  if (const Variant* const variant = chosen_variant(from)) step.variant = variant->name;
  if (const auto move = move_of(from)) return add_move(std::move(step), from, *move, artifact);
  if (const auto* const view = std::get_if<CoverView>(&from.work)) return add_view(std::move(step), *view);
  return add_kernel(std::move(step), std::get<CoverKernel>(from.work), *artifact);
}

Result<void> StepMaker::add_move(PlanStep step, const CoverStep& from, const ValueMove& move,
                                 const Artifact* artifact) {
  COLLAGE_TRY(const PlanIndex input, draft_.read(move.value, move.from, draft_.next_step()));
  COLLAGE_TRY(const PlanIndex output, draft_.write(move.value, move.to, draft_.next_step()));
  step.inputs = {input};
  step.outputs = {output};
  if (is_view(from)) {
    step.work = PlanView{.location = move.from.location};
    COLLAGE_TRY_VOID(show_whole(output, input));
  } else if (has_artifact(from)) {
    step.work = PlanConversion{.location = move.from.location, .artifact = draft_.add_artifact(*artifact)};
  } else {
    step.work = PlanTransfer{};
  }
  draft_.add_step(std::move(step), artifact == nullptr ? InPlace{} : artifact->in_place);
  return {};
}

Result<void> StepMaker::add_kernel(PlanStep step, const CoverKernel& from, const Artifact& artifact) {
  PlanKernel kernel{.location = from.location, .nodes = nodes_in(graph_, from.region)};
  COLLAGE_TRY_VOID(add_inputs(step, from.region, from.variant, from.location));
  if (from.location == kHome) {
    COLLAGE_TRY(kernel.checks, checks_at(step, from.region));
  }
  COLLAGE_TRY_VOID(add_outputs(step, from.region, from.variant, from.location));
  kernel.artifact = draft_.add_artifact(artifact);
  step.work = std::move(kernel);
  draft_.add_step(std::move(step), artifact.in_place);
  return {};
}

Result<void> StepMaker::add_view(PlanStep step, const CoverView& from) {
  const std::optional<Containment> containment = containment_in(graph_, from);
  if (containment && containment->whole == from.region.outputs.front())
    return add_concatenation(std::move(step), from, *containment);
  COLLAGE_TRY_VOID(add_inputs(step, from.region, from.variant, from.location));
  COLLAGE_TRY_VOID(keep_data_input(step, from.region));
  COLLAGE_TRY_VOID(add_outputs(step, from.region, from.variant, from.location));
  COLLAGE_TRY_VOID(show_outputs(step, from.region, containment));
  step.work = PlanView{.location = from.location, .nodes = nodes_in(graph_, from.region)};
  draft_.add_step(std::move(step), {});
  return {};
}

Result<void> StepMaker::add_inputs(PlanStep& step, const Region& region, const Variant& variant,
                                   const std::string& location) {
  const std::size_t index = draft_.next_step();
  if (variant.input_formats.size() != region.inputs.size() || variant.output_formats.size() != region.outputs.size())
    return bad_cover(fmt::format("step {}", index), "a variant with other port counts", "one format for each port");
  for (std::size_t i = 0; i < region.inputs.size(); ++i) {
    COLLAGE_TRY(const PlanIndex input, draft_.read(region.inputs[i], {location, variant.input_formats[i]}, index));
    step.inputs.push_back(input);
  }
  return {};
}

Result<void> StepMaker::add_outputs(PlanStep& step, const Region& region, const Variant& variant,
                                    const std::string& location) {
  for (std::size_t i = 0; i < region.outputs.size(); ++i) {
    COLLAGE_TRY(const PlanIndex output,
                draft_.write(region.outputs[i], {location, variant.output_formats[i]}, draft_.next_step()));
    step.outputs.push_back(output);
  }
  return {};
}

Result<std::vector<PlanCheck>> StepMaker::checks_at(const PlanStep& step, const Region& region) {
  std::vector<PlanCheck> checks;
  for (const OperandCheck& check : operand_checks(graph_, conditions_, region).at_entry) {
    PlanCheck made{.rule = check.condition.rule,
                   .ranges = check.condition.ranges,
                   .op_type = check.asker->op_type,
                   .node = check.asker->name};
    COLLAGE_TRY(made.value, checked_value(step, region, check.condition.value));
    if (made.rule == OperandRule::kNoOverflow) {
      COLLAGE_TRY(made.dividend, checked_value(step, region, check.condition.dividend));
    }
    // What several nodes ask alike is looked at once, for the first of them.
    const auto is_asked = [&](const PlanCheck& other) {
      return other.rule == made.rule && other.value == made.value && other.dividend == made.dividend &&
             other.ranges == made.ranges;
    };
    if (std::ranges::none_of(checks, is_asked)) checks.push_back(std::move(made));
  }
  return checks;
}

Result<PlanIndex> StepMaker::checked_value(const PlanStep& step, const Region& region, ValueId id) {
  if (graph_.value(id).constant) return draft_.add_constant(id);
  const PlanIndex index =
      step.inputs[static_cast<std::size_t>(std::ranges::find(region.inputs, id) - region.inputs.begin())];
  const Format& format = draft_.value(index).place.format;
  if (!format.is_plain() && !format.is_channels_last())  // one range for all: the order of elements does not matter
    return bad_cover(graph_.value(id).name, "indices or divisors in format " + format.name, "plain ones");
  return index;
}

Result<void> StepMaker::keep_data_input(PlanStep& step, const Region& region) {
  const std::string where = fmt::format("step {}", draft_.next_step());
  const std::vector<std::size_t> nodes = region.nodes.members();
  if (nodes.size() != 1) return bad_cover(where, "a view of several nodes", "one node");
  const ValueId data = input_of(graph_.nodes[nodes.front()], 0);
  if (data.valid() && graph_.value(data).constant) {
    step.inputs = {draft_.add_constant(data)};
    return {};
  }
  const auto port = std::ranges::find(region.inputs, data);
  if (port == region.inputs.end()) return bad_cover(where, "a view without its data input", "the node's first input");
  step.inputs = {step.inputs[static_cast<std::size_t>(port - region.inputs.begin())]};
  return {};
}

Result<void> StepMaker::show_outputs(const PlanStep& step, const Region& region,
                                     const std::optional<Containment>& containment) {
  const PlanIndex input = step.inputs.front();
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const auto is_this = [&](const ContainedPart& part) { return part.value == region.outputs[i]; };
    if (containment)
      draft_.blocks().show(step.outputs[i], input, std::ranges::find_if(containment->parts, is_this)->offset);
    else
      COLLAGE_TRY_VOID(show_whole(step.outputs[i], input));
  }
  return {};
}

Result<void> StepMaker::show_whole(PlanIndex output, PlanIndex input) {
  if (draft_.value(output).bytes != draft_.value(input).bytes)
    return bad_cover(draft_.value(output).name, "a view of another size", "the bytes of its input");
  draft_.blocks().show(output, input, 0);
  return {};
}

Result<void> StepMaker::add_concatenation(PlanStep step, const CoverView& from, const Containment& containment) {
  const Place place{from.location, from.variant.output_formats.front()};
  step.work = PlanView{.location = from.location, .nodes = {.names = {graph_.nodes[from.region.nodes.next()].name}}};
  COLLAGE_TRY(const PlanIndex whole, draft_.write(containment.whole, place, draft_.next_step()));
  std::vector<Blocks::Part> parts;
  for (const ContainedPart& part : containment.parts) {
    COLLAGE_TRY(const PlanIndex value, draft_.read(part.value, place, draft_.next_step()));
    parts.push_back({value, part.offset});
  }
  if (parts.size() == 1)
    draft_.blocks().show(whole, parts.front().value, 0);
  else
    COLLAGE_TRY_VOID(place_parts(whole, parts));
  for (const Blocks::Part& part : parts) {
    draft_.keep_until(part.value, draft_.next_step());
    step.inputs.push_back(part.value);
  }
  step.outputs = {whole};
  draft_.add_step(std::move(step), {});
  return {};
}

Result<void> StepMaker::place_parts(PlanIndex whole, std::vector<Blocks::Part>& parts) {
  const std::vector<bool> placed = draft_.blocks().join(whole, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (placed[i]) continue;
    COLLAGE_TRY(parts[i].value, draft_.add_copy(parts[i].value, Storage::kArena, 0));
    draft_.blocks().fill(parts[i].value, whole, parts[i].offset);
  }
  return {};
}

}  // namespace collage
