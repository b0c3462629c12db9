#include "backends/common/engine/region_model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "onnx/export.h"

namespace collage {
namespace {

/// The axis order that takes [n, c, spatial...] to [n, spatial..., c].
std::vector<std::int64_t> to_channels_last(std::size_t rank) {
  std::vector<std::int64_t> order = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<std::int64_t>(axis));
  order.push_back(1);
  return order;
}

/// The axis order that takes [n, spatial..., c] to [n, c, spatial...].
std::vector<std::int64_t> to_channels_second(std::size_t rank) {
  std::vector<std::int64_t> order = {0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) order.push_back(static_cast<std::int64_t>(axis));
  return order;
}

Node transpose(std::string name, ValueId from, ValueId to, std::vector<std::int64_t> order) {
  return Node{.name = std::move(name),
              .domain = {},
              .op_type = "Transpose",
              .inputs = {from},
              .outputs = {to},
              .captures = {},
              .attributes = {{.name = "perm", .value = std::move(order)}}};
}

/// A new value that stands for `inner` at the border, in channels_last.
ValueId add_port(Graph& graph, ValueId inner) {
  const Extents extents = graph.value(inner).type.extents();
  Extents permuted;
  for (const std::int64_t axis : to_channels_last(extents.size()))
    permuted.push_back(extents[static_cast<std::size_t>(axis)]);
  const ElementType element = graph.value(inner).type.element;
  return add_value(graph, port_name(graph.value(inner).name, channels_last()), ValueType::tensor(element, permuted));
}

/// Puts a Transpose behind every channels_last input and before every channels_last output.
void add_border_transposes(Graph& graph, const Variant& variant) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!variant.input_formats[i].is_channels_last()) continue;
    const ValueId inner = graph.inputs[i];
    graph.inputs[i] = add_port(graph, inner);
    nodes.push_back(transpose("collage.border.input." + std::to_string(i), graph.inputs[i], inner,
                              to_channels_second(graph.value(inner).type.extents().size())));
  }
  nodes.insert(nodes.end(), std::make_move_iterator(graph.nodes.begin()), std::make_move_iterator(graph.nodes.end()));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!variant.output_formats[i].is_channels_last()) continue;
    const ValueId inner = graph.outputs[i];
    graph.outputs[i] = add_port(graph, inner);
    nodes.push_back(transpose("collage.border.output." + std::to_string(i), inner, graph.outputs[i],
                              to_channels_last(graph.value(inner).type.extents().size())));
  }
  graph.nodes = std::move(nodes);
}

bool can_lie_outside(const Value& value) {
  return value.constant && value.constant->type != ElementType::kString &&
         value.constant->data.size() > kInlineConstantBytes;
}

}  // namespace

RegionModel region_model(const CompileRequest& request, Weights weights, std::int64_t opset) {
  Graph part = extract(*request.graph, request.region);
  add_border_transposes(part, request.variant);
  if (opset != 0) part.opsets[""] = opset;

  RegionModel model;
  std::map<std::string, std::size_t> numbers;  // by name, which extraction keeps while it renumbers ids
  if (weights == Weights::kOutside)
    for (const ValueId id : request.region.constants)
      if (can_lie_outside(request.graph->value(id))) {
        numbers.emplace(request.graph->value(id).name, model.constants.size());
        model.constants.push_back(id);
      }

  ExportOptions options{.external = {},
                        .inline_limit = kInlineConstantBytes,
                        .node_metadata = {},
                        .value_info = false,
                        .keep_ids = false};
  options.external = [&](ValueId id) -> std::optional<ExternalLocation> {
    const auto found = numbers.find(part.value(id).name);
    if (found == numbers.end()) return std::nullopt;
    return ExternalLocation{.file = constant_file(found->second), .offset = 0};
  };
  model.bytes = export_graph(part, options);
  return model;
}

std::string constant_file(std::size_t i) { return "c" + std::to_string(i); }

std::string port_name(const std::string& value_name, const Format& format) {
  return format.is_channels_last() ? value_name + "#collage.channels_last" : value_name;
}

}  // namespace collage
