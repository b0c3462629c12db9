#include "plan/realise/step_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "region/operand_checks.h"

namespace collage {
namespace {

/// Where parts lie in a whole; nothing for views of everything, and for what is no view.
std::optional<Containment> containment_in(const Graph& graph, const CoverStep& from) {
  if (from.kind != StepKind::kView || from.region.outputs.empty()) return std::nullopt;
  const std::size_t node = from.region.nodes.next();
  if (node >= graph.nodes.size()) return std::nullopt;
  return containment_of(graph, graph.nodes[node], from.variant.output_formats.front());
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
  PlanStep step;
  step.kind = from.kind;
  step.backend = from.backend;
  step.variant = from.variant.name;
  step.runner_up = from.runner_up;
  set_cost(step, from.cost);
  const std::optional<Containment> containment = containment_in(graph_, from);
  if (containment && containment->whole == from.region.outputs.front())
    return add_concatenation(std::move(step), from, *containment);
  const std::size_t index = draft_.next_step();
  const bool renames_format = from.kind == StepKind::kView && from.region.outputs.empty();
  if (is_boundary(from.kind) || renames_format) {
    COLLAGE_TRY_VOID(add_conversion_ports(step, from, index));
  } else {
    COLLAGE_TRY_VOID(add_region_ports(step, from, index));
  }
  if (from.kind == StepKind::kView) {
    COLLAGE_TRY_VOID(show_outputs(step, from, containment));
  } else if (has_artifact(from.kind)) {
    if (artifact == nullptr) return bad_cover(fmt::format("step {}", index), "no artifact", "one");
    draft_.add_artifact(step, *artifact);
  }
  draft_.add_step(std::move(step), artifact == nullptr ? InPlace{} : artifact->in_place);
  return {};
}

Result<void> StepMaker::add_conversion_ports(PlanStep& step, const CoverStep& from, std::size_t index) {
  COLLAGE_TRY(const PlanIndex input, draft_.read(from.value, from.from, index));
  COLLAGE_TRY(const PlanIndex output, draft_.write(from.value, from.to, index));
  if (from.kind != StepKind::kTransfer) step.location = from.from.location;
  step.inputs = {input};
  step.outputs = {output};
  return {};
}

Result<void> StepMaker::add_region_ports(PlanStep& step, const CoverStep& from, std::size_t index) {
  const Region& region = from.region;
  const Variant& variant = from.variant;
  if (variant.input_formats.size() != region.inputs.size() || variant.output_formats.size() != region.outputs.size())
    return bad_cover(fmt::format("step {}", index), "a variant with other port counts", "one format for each port");
  step.location = from.location;
  for (const std::size_t node : region.nodes.members()) {
    step.nodes.push_back(graph_.nodes[node].name);
    if (region.repeats(node)) step.repeated.push_back(graph_.nodes[node].name);
  }
  for (std::size_t i = 0; i < region.inputs.size(); ++i) {
    COLLAGE_TRY(const PlanIndex input, draft_.read(region.inputs[i], {from.location, variant.input_formats[i]}, index));
    step.inputs.push_back(input);
  }
  if (from.kind == StepKind::kView) COLLAGE_TRY_VOID(keep_data_input(step, region, index));
  if (from.kind == StepKind::kKernel && from.location == kHome) COLLAGE_TRY_VOID(add_checks(step, region));
  for (std::size_t i = 0; i < region.outputs.size(); ++i) {
    COLLAGE_TRY(const PlanIndex output,
                draft_.write(region.outputs[i], {from.location, variant.output_formats[i]}, index));
    step.outputs.push_back(output);
  }
  return {};
}

Result<void> StepMaker::add_checks(PlanStep& step, const Region& region) {
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
    if (std::ranges::none_of(step.checks, is_asked)) step.checks.push_back(std::move(made));
  }
  return {};
}

Result<PlanIndex> StepMaker::checked_value(const PlanStep& step, const Region& region, ValueId id) {
  if (graph_.value(id).constant) return draft_.add_constant(id);
  const PlanIndex index =
      step.inputs[static_cast<std::size_t>(std::ranges::find(region.inputs, id) - region.inputs.begin())];
  const Format& format = draft_.value(index).format;
  if (!format.is_plain() && !format.is_channels_last())  // one range for all: the order of elements does not matter
    return bad_cover(graph_.value(id).name, "indices or divisors in format " + format.name, "plain ones");
  return index;
}

Result<void> StepMaker::keep_data_input(PlanStep& step, const Region& region, std::size_t index) {
  const std::vector<std::size_t> nodes = region.nodes.members();
  if (nodes.size() != 1) return bad_cover(fmt::format("step {}", index), "a view of several nodes", "one node");
  const ValueId data = input_of(graph_.nodes[nodes.front()], 0);
  if (data.valid() && graph_.value(data).constant) {
    step.inputs = {draft_.add_constant(data)};
    return {};
  }
  const auto port = std::ranges::find(region.inputs, data);
  if (port == region.inputs.end())
    return bad_cover(fmt::format("step {}", index), "a view without its data input", "the node's first input");
  step.inputs = {step.inputs[static_cast<std::size_t>(port - region.inputs.begin())]};
  return {};
}

Result<void> StepMaker::show_outputs(const PlanStep& step, const CoverStep& from,
                                     const std::optional<Containment>& containment) {
  const PlanIndex input = step.inputs.front();
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const PlanIndex output = step.outputs[i];
    const auto is_this = [&](const ContainedPart& part) { return part.value == from.region.outputs[i]; };
    if (containment) {
      draft_.blocks().show(output, input, std::ranges::find_if(containment->parts, is_this)->offset);
    } else if (draft_.value(output).bytes == draft_.value(input).bytes) {
      draft_.blocks().show(output, input, 0);
    } else {
      return bad_cover(draft_.value(output).name, "a view of another size", "the bytes of its input");
    }
  }
  return {};
}

Result<void> StepMaker::add_concatenation(PlanStep step, const CoverStep& from, const Containment& containment) {
  const Place place{from.location, from.variant.output_formats.front()};
  step.location = from.location;
  step.nodes = {graph_.nodes[from.region.nodes.next()].name};
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
