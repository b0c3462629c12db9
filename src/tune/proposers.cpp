#include "tune/proposers.h"

#include <algorithm>

namespace collage {
namespace {

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

/// A format for each port, and names that can be written down.
bool is_sound(const Variant& variant, const Region& region) {
  const auto is_named = [](const Format& format) { return is_printable(format.name); };
  return variant.input_formats.size() == region.inputs.size() &&
         variant.output_formats.size() == region.outputs.size() && is_printable(variant.name) &&
         std::ranges::all_of(variant.input_formats, is_named) && std::ranges::all_of(variant.output_formats, is_named);
}

}  // namespace

std::expected<std::vector<Variant>, Refusal> guarded_support(const Backend& backend, const Graph& graph,
                                                             const Region& region, const CompileOptions& options) {
  auto variants = guard([&] { return backend.support(graph, region, options); });
  if (variants && *variants &&
      !std::ranges::all_of(**variants, [&](const Variant& variant) { return is_sound(variant, region); }))
    return std::unexpected(Refusal{.reason = RefusalReason::kFormat, .detail = "offers a variant that makes no sense"});
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
