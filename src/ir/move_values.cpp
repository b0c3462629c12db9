#include "ir/move_values.h"

namespace collage {

void move_values(Graph& graph, const std::vector<std::uint32_t>& to) {
  std::vector<Value> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[to[i]] = std::move(graph.values[i]);
  graph.values = std::move(values);
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id.valid()) id.index = to[id.index];
  };
  for (auto* ids : {&graph.inputs, &graph.outputs, &graph.captures}) renumber(*ids);
  for (Node& node : graph.nodes)
    for (auto* ids : {&node.inputs, &node.outputs, &node.captures}) renumber(*ids);
}

}  // namespace collage
