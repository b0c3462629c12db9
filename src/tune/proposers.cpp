#include "tune/proposers.h"

namespace collage {

std::expected<std::vector<Variant>, Refusal> guarded_support(const Backend& backend, const Graph& graph,
                                                             const Region& region, const CompileOptions& options) {
  auto variants = guard([&] { return backend.support(graph, region, options); });
  if (variants) return *std::move(variants);
  return std::unexpected(
      Refusal{.reason = RefusalReason::kCompile, .detail = "threw when asked for support: " + variants.error()});
}

Result<std::vector<Proposer>> make_proposers(Registry& registry, std::span<const std::string> instances,
                                             const Graph& graph, const CompileOptions& options) {
  std::vector<Proposer> proposers;
  for (const std::string& name : instances) {
    COLLAGE_TRY(Backend * backend, registry.get(name));
    proposers.push_back(
        {.backend = name, .rules = backend->rules(), .support = [backend, &graph, options](const Region& region) {
           return guarded_support(*backend, graph, region, options);
         }});
  }
  return proposers;
}

bool knows_vendor_operator(Registry& registry, std::span<const std::string> instances, std::string_view domain,
                           std::string_view op_type) {
  Graph graph;
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {1});
  graph.opsets[""] = 26;
  graph.opsets[std::string(domain)] = 1;
  graph.inputs.push_back(add_value(graph, "x", type));
  graph.outputs.push_back(add_value(graph, "y", type));
  Node node;
  node.domain = domain;
  node.op_type = op_type;
  node.inputs = graph.inputs;
  node.outputs = graph.outputs;
  add_node(graph, std::move(node));
  const Region region = whole_region(graph, uses_of(graph));
  for (const std::string& name : instances) {
    const auto backend = registry.get(name);
    if (!backend) continue;
    const auto variants = guarded_support(**backend, graph, region, {});
    if (variants || variants.error().reason != RefusalReason::kOperator) return true;
  }
  return false;
}

}  // namespace collage
