#include <algorithm>

#include "plan/control.h"

namespace collage {
namespace {

/// Whether every carried value leaves a Loop's body as it came, given the types of free_bodies().
bool keeps_types(const Graph& body, std::size_t carried) {
  for (std::size_t k = 0; k < carried; ++k) {
    const ValueType& before = body.value(body.inputs[leading_outputs(ControlOperator::kLoop) * 2 + k]).type;
    const ValueType& after = body.value(body.outputs[leading_outputs(ControlOperator::kLoop) + k]).type;
    if (!before.is_static() || before != after) return false;
  }
  return true;
}

/// Takes a static type for a result whose extents import left open, and a type of known rank for one without.
void prove(ValueType& result, const std::optional<ValueType>& type) {
  if (!type || result.is_static() || !(type->is_static() || type->is_open())) return;
  if (type->is_static() || !result.is_open()) result = *type;
}

void prove_if(Graph& graph, const Node& node, const std::vector<Graph>& bodies) {
  if (bodies.size() != 2 ||
      std::ranges::any_of(bodies, [&](const Graph& body) { return body.outputs.size() != node.outputs.size(); }))
    return;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].valid()) continue;
    prove(graph.value(node.outputs[k]).type,
          joined_type(bodies[0].value(bodies[0].outputs[k]).type, bodies[1].value(bodies[1].outputs[k]).type));
  }
}

/// What a carried value is after any number of iterations.
std::optional<ValueType> carried_result(const Graph& body, std::size_t k) {
  const ValueType& before = body.value(body.inputs[leading_outputs(ControlOperator::kLoop) * 2 + k]).type;
  const ValueType& after = body.value(body.outputs[leading_outputs(ControlOperator::kLoop) + k]).type;
  return joined_type(before, after);
}

/// `trips` slices on one another. Names of dimensions mean something inside their body only.
std::optional<ValueType> stacked_type(const ValueType& slice, std::optional<std::int64_t> trips) {
  std::optional<ValueType> type = joined_type(slice, slice);
  if (type) type->shape->insert(type->shape->begin(), Dim{.extent = trips.value_or(-1), .symbol = {}});
  return type;
}

void prove_loop(Graph& graph, const Node& node, const std::vector<Graph>& bodies) {
  if (bodies.size() != 1 || node.inputs.size() < 2) return;
  const Graph& body = bodies.front();
  const std::size_t carried = node.inputs.size() - 2;
  if (body.inputs.size() < 2 + carried || body.outputs.size() != 1 + node.outputs.size() ||
      node.outputs.size() < carried)
    return;
  // Once a carried value has another type, the types of what the first iteration made prove nothing about the next one.
  const bool keeps = keeps_types(body, carried);
  const std::optional<std::int64_t> trips = known_trips(graph, node);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].valid()) continue;
    ValueType& result = graph.value(node.outputs[k]).type;
    if (!keeps && result.is_open()) continue;
    prove(result, k < carried ? carried_result(body, k) : stacked_type(body.value(body.outputs[1 + k]).type, trips));
  }
}

}  // namespace

Graph with_proven_results(Graph graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::optional<ControlOperator> op = control_operator_of(graph.nodes[n]);
    if (!op) continue;
    for (Attribute& attribute : graph.nodes[n].attributes)
      if (auto* body = std::get_if<Body>(&attribute.value))
        body->graph = std::make_shared<const Graph>(with_proven_results(*body->graph));
    const Node& node = graph.nodes[n];
    const std::vector<Graph> bodies = free_bodies(graph, node);
    if (*op == ControlOperator::kIf) prove_if(graph, node, bodies);
    if (*op == ControlOperator::kLoop) prove_loop(graph, node, bodies);
  }
  return graph;
}

}  // namespace collage
