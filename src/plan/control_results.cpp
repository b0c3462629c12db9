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

void prove_if(Graph& graph, const Node& node, const std::vector<Graph>& bodies) {
  if (bodies.size() != 2 ||
      std::ranges::any_of(bodies, [&](const Graph& body) { return body.outputs.size() != node.outputs.size(); }))
    return;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueType& type = bodies[0].value(bodies[0].outputs[k]).type;
    if (!node.outputs[k].valid() || graph.value(node.outputs[k]).type.is_static() || !type.is_static()) continue;
    if (type == bodies[1].value(bodies[1].outputs[k]).type) graph.value(node.outputs[k]).type = type;
  }
}

void prove_loop(Graph& graph, const Node& node, const std::vector<Graph>& bodies) {
  if (bodies.size() != 1 || node.inputs.size() < 2) return;
  const Graph& body = bodies.front();
  const std::size_t carried = node.inputs.size() - 2;
  if (body.inputs.size() < 2 + carried || body.outputs.size() != 1 + node.outputs.size() ||
      node.outputs.size() < carried || !keeps_types(body, carried))
    return;
  const std::optional<std::int64_t> trips = known_trips(graph, node);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    ValueType type = body.value(body.outputs[1 + k]).type;
    if (!node.outputs[k].valid() || graph.value(node.outputs[k]).type.is_static() || !type.is_static()) continue;
    if (k >= carried) {
      if (!trips) continue;
      Extents extents = type.extents();
      extents.insert(extents.begin(), *trips);
      type = ValueType::tensor(type.element, extents);
    }
    graph.value(node.outputs[k]).type = type;
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
