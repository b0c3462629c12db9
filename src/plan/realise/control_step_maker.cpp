#include "plan/realise/control_step_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/add_artifact.h"
#include "plan/control.h"
#include "plan/open_values.h"
#include "plan/realise/step_maker.h"

namespace collage {

Result<void> ControlStepMaker::add(const CoverStep& from, std::span<const Artifact* const>& artifacts) {
  const std::size_t index = draft_.next_step();
  const auto& given = std::get<CoverControl>(from.work);
  const std::size_t number = given.region.nodes.next();
  if (given.region.nodes.count() != 1 || number >= graph_.nodes.size())
    return bad_cover(fmt::format("step {}", index), "a control step of several nodes", "one node");
  const Node& node = graph_.nodes[number];
  if (const auto refusal = refuse_bodies(graph_, node))
    return bad_cover(node.name, refusal->detail, "a placeable body");
  PlanStep step{.backend = from.backend, .variant = given.variant.name, .runner_up = from.runner_up};
  set_cost(step, from.cost);
  PlanControl control{.nodes = {.names = {node.name}}, .form = control_form(graph_, node)};
  COLLAGE_TRY(control.form.operands, operands_of(step, node, index));
  const std::vector<Graph> bodies = free_bodies(graph_, node);
  if (bodies.size() != given.bodies.size())
    return bad_cover(node.name, fmt::format("{} covers of bodies", given.bodies.size()), "one for each body");
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const std::size_t count = step_count(given.bodies[b]);
    COLLAGE_TRY(RealisedPlan body, realise_body(bodies[b], given.bodies[b], artifacts.first(count)));
    artifacts = artifacts.subspan(count);
    for (const ValueId id : captures_of(graph_, node, b)) {
      COLLAGE_TRY(const PlanIndex captured, read_operand(step, id, index));
      body.plan.captures.push_back(captured);
    }
    adopt(control, node, std::move(body));
  }
  for (const ValueId id : node.outputs) {
    control.form.results.push_back(kNoValue);
    if (!id.valid()) continue;
    COLLAGE_TRY(control.form.results.back(), draft_.write(id, {}, index));
    step.outputs.push_back(control.form.results.back());
  }
  control.workspace.bytes = control_layout(draft_.out().plan, control).bytes;
  step.work = std::move(control);
  draft_.add_step(std::move(step), {});
  return {};
}

Result<std::vector<PlanIndex>> ControlStepMaker::operands_of(PlanStep& step, const Node& node, std::size_t index) {
  std::vector<PlanIndex> operands;
  for (const ValueId id : node.inputs) {
    operands.push_back(kNoValue);
    if (!id.valid()) continue;
    COLLAGE_TRY(operands.back(), read_operand(step, id, index));
  }
  return operands;
}

Result<PlanIndex> ControlStepMaker::read_operand(PlanStep& step, ValueId id, std::size_t index) {
  COLLAGE_TRY(const PlanIndex value, draft_.read(id, {}, index));
  const PlanValue& read = draft_.value(value);
  if (!read.type.is_static() && !is_open_tensor(read))
    return fail(ExitCode::kUnsupported, "plan/dynamic-value", graph_.value(id).name,
                to_string(graph_.value(id).type) + " as an operand", "tensors of known rank that a step made");
  if (std::ranges::find(step.inputs, value) == step.inputs.end()) step.inputs.push_back(value);
  return value;
}

Result<RealisedPlan> ControlStepMaker::realise_body(const Graph& body, const Cover& cover,
                                                    std::span<const Artifact* const> artifacts) const {
  RealiseRequest request;
  request.graph = &body;
  request.cover = &cover;
  request.artifacts.assign(artifacts.begin(), artifacts.end());
  request.format_bytes = draft_.request().format_bytes;
  request.copy_artifact = draft_.request().copy_artifact;
  request.is_body = true;
  return realise_body_of(request);
}

void ControlStepMaker::adopt(PlanControl& control, const Node& node, RealisedPlan body) {
  PlanBody& inner = body.plan;
  inner.name = bodies_of(node)[control.bodies.size()]->name;
  for (const auto& [index, tensor] : body.constants)
    inner.values[index].buffer = constant_with_bytes_of(tensor, node, inner.name + "." + inner.values[index].name);
  for (auto& [hash, bytes] : body.artifacts) {
    const auto listed = std::ranges::find(body.plan.artifacts, hash, &PlanArtifact::hash);
    add_artifact(draft_.out(), hash, listed->compatibility, std::move(bytes));
  }
  control.bodies.push_back(std::move(inner));
}

PlanIndex ControlStepMaker::constant_with_bytes_of(const Tensor& tensor, const Node& node, std::string name) {
  for (const ValueId id : node.captures)
    if (const auto& outer = graph_.value(id).constant;
        outer && outer->data.data() == tensor.data.data() && outer->data.size() == tensor.data.size())
      return draft_.add_constant(id);
  return draft_.add_constant(tensor, std::move(name));
}

}  // namespace collage
