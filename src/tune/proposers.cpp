#include "tune/proposers.h"

#include <algorithm>
#include <memory>

#include "backend/extensions/operand_extension.h"
#include "backend/held_value.h"
#include "region/narrow_variant.h"

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

/// Values whose extents are known only during a run lie in ONNX order, as they come.
void keep_plain_open_ports(const Graph& graph, const Region& region, std::vector<Variant>& variants) {
  const auto is_plain = [&](const std::vector<ValueId>& ids, const std::vector<Format>& formats) {
    for (std::size_t i = 0; i < ids.size() && i < formats.size(); ++i)
      if (graph.value(ids[i]).type.is_open() && !formats[i].is_plain()) return false;
    return true;
  };
  std::erase_if(variants, [&](const Variant& variant) {
    return !is_plain(region.inputs, variant.input_formats) || !is_plain(region.outputs, variant.output_formats);
  });
}

std::optional<Refusal> refuse_open_inputs(const Backend& backend, const Graph& graph, const Region& region) {
  const auto open = std::ranges::find_if(
      region.inputs, [&](ValueId id) { return !graph.value(id).type.is_static() && !graph.value(id).type.is_held(); });
  if (open == region.inputs.end() || backend.info().takes_open) return std::nullopt;
  return Refusal{.reason = RefusalReason::kShape,
                 .detail = "input " + graph.value(*open).name + " has extents that are known only during a run"};
}

std::expected<std::vector<Variant>, Refusal> support_with(const Backend& backend, const Graph& graph,
                                                          std::span<const OpenCondition> open, const Region& region,
                                                          const CompileOptions& options) {
  if (auto refusal = refuse_open_inputs(backend, graph, region)) return std::unexpected(*std::move(refusal));
  if (auto refusal = refuse_held_ports(backend, graph, region)) return std::unexpected(*std::move(refusal));
  if (auto refusal = refuse_operands(backend, graph, open, region)) return std::unexpected(*std::move(refusal));
  auto variants = guard([&] { return backend.support(graph, region, options); });
  if (variants && *variants &&
      !std::ranges::all_of(**variants, [&](const Variant& variant) { return is_sound(variant, region); }))
    return std::unexpected(Refusal{.reason = RefusalReason::kFormat, .detail = "offers a variant that makes no sense"});
  if (variants && *variants) keep_plain_open_ports(graph, region, **variants);
  if (variants && *variants && options.accuracy != Accuracy::kFast && std::ranges::any_of(**variants, has_few_bits))
    return std::unexpected(
        Refusal{.reason = RefusalReason::kFormat,
                .detail = "offers arithmetic in 16 bits in accuracy class " + std::string(name_of(options.accuracy))});
  if (variants) return *std::move(variants);
  return std::unexpected(
      Refusal{.reason = RefusalReason::kCompile, .detail = "threw when asked for support: " + variants.error()});
}

}  // namespace

std::optional<Refusal> refuse_operands(const Backend& backend, const Graph& graph, std::span<const OpenCondition> open,
                                       const Region& region) {
  const auto is_left = [&](const Node& asker, OperandRule rule) { return !refuses_operands(backend, asker, rule); };
  const auto refused = [](std::string detail) {
    return Refusal{.reason = RefusalReason::kStructure, .detail = std::move(detail)};
  };
  const OperandChecks checks = operand_checks(graph, open, region);
  for (const OpenCondition* const inside : checks.inside)
    if (is_left(*inside->asker, inside->condition.rule)) return refused(why_inside(graph, *inside));
  if (backend.info().location == kHome) return std::nullopt;
  for (const OperandCheck& check : checks.at_entry)
    if (is_left(*check.asker, check.condition.rule))
      return refused(check.asker->op_type + " '" + check.asker->name + "' has an operand at a device, unchecked");
  return std::nullopt;
}

std::expected<std::vector<Variant>, Refusal> guarded_support(const Backend& backend, const Graph& graph,
                                                             const Region& region, const CompileOptions& options) {
  return support_with(backend, graph, open_conditions(graph), region, options);
}

std::vector<Candidate> offers_of(const Backend& backend, const Graph& graph, const Region& region,
                                 const CompileOptions& options) {
  std::vector<std::vector<Match>> labels = labels_for(backend.rules(), graph, region);
  labels.insert(labels.begin(), std::vector<Match>());
  std::vector<Candidate> offers;
  for (std::vector<Match>& matches : labels) {
    Region labelled = region;
    labelled.matches = matches;
    for (Variant& variant : guarded_support(backend, graph, labelled, options).value_or(std::vector<Variant>()))
      offers.push_back({.backend = backend.info().name, .variant = std::move(variant), .matches = matches});
  }
  return offers;
}

Result<std::vector<Proposer>> make_proposers(Registry& registry, std::span<const std::string> instances,
                                             const Graph& graph, const CompileOptions& options) {
  const auto open = std::make_shared<const std::vector<OpenCondition>>(open_conditions(graph));
  std::vector<Proposer> proposers;
  for (const std::string& name : instances) {
    COLLAGE_TRY(Backend * backend, registry.get(name));
    proposers.push_back(
        {.backend = name, .rules = backend->rules(), .support = [backend, &graph, open, options](const Region& region) {
           return support_with(*backend, graph, *open, region, options);
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
