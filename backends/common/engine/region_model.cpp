#include "backends/common/engine/region_model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "onnx/export.h"
#include "onnx/outside_weights.h"

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

Node cast(std::string name, ValueId from, ValueId to, ElementType element) {
  return Node{
      .name = std::move(name),
      .domain = {},
      .op_type = "Cast",
      .inputs = {from},
      .outputs = {to},
      .captures = {},
      .attributes = {{.name = "to", .value = static_cast<std::int64_t>(element)}}};  // ONNX numbers the types alike
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

Extents extents_of(const Graph& graph, ValueId id) { return graph.value(id).type.extents(); }

/// A new value that stands for `inner` at the border, as the format stores it.
ValueId add_port(Graph& graph, ValueId inner, const Format& format) {
  const ValueType& type = graph.value(inner).type;
  const Extents extents = type.extents();
  Extents permuted = extents;
  if (format.full().is_channels_last()) {
    permuted.clear();
    for (const std::int64_t axis : to_channels_last(extents.size()))
      permuted.push_back(extents[static_cast<std::size_t>(axis)]);
  }
  return add_value(graph, port_name(graph.value(inner).name, format),
                   ValueType::tensor(stored_element(type, format), permuted));
}

/// Puts a Cast behind every narrow input and a Transpose behind every channels_last one.
void add_input_nodes(Graph& graph, const Variant& variant, std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Format& format = variant.input_formats[i];
    if (format.is_plain()) continue;
    const ValueId inner = graph.inputs[i];
    const ValueId port = graph.inputs[i] = add_port(graph, inner, format);
    const std::string name = "collage.border.input." + std::to_string(i);
    const bool is_last = format.full().is_channels_last();
    ValueId full = port;
    if (format.narrow()) {
      const ElementType element = graph.value(inner).type.element;
      full = is_last ? add_value(graph, name + ".full", ValueType::tensor(element, extents_of(graph, port))) : inner;
      nodes.push_back(cast(name + ".cast", port, full, element));
    }
    if (is_last) nodes.push_back(transpose(name, full, inner, to_channels_second(extents_of(graph, inner).size())));
  }
}

/// Puts a Transpose before every channels_last output and a Cast before every narrow one.
void add_output_nodes(Graph& graph, const Variant& variant, std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Format& format = variant.output_formats[i];
    if (format.is_plain()) continue;
    const ValueId inner = graph.outputs[i];
    const ValueId port = graph.outputs[i] = add_port(graph, inner, format);
    const std::string name = "collage.border.output." + std::to_string(i);
    ValueId moved = inner;
    if (format.full().is_channels_last()) {
      moved = format.narrow() ? add_value(graph, name + ".full",
                                          ValueType::tensor(graph.value(inner).type.element, extents_of(graph, port)))
                              : port;
      nodes.push_back(transpose(name, inner, moved, to_channels_last(extents_of(graph, inner).size())));
    }
    if (format.narrow()) nodes.push_back(cast(name + ".cast", moved, port, *format.narrow()));
  }
}

/// Between the region's values and its ports as their formats store them.
void add_border_nodes(Graph& graph, const Variant& variant) {
  std::vector<Node> nodes;
  add_input_nodes(graph, variant, nodes);
  nodes.insert(nodes.end(), std::make_move_iterator(graph.nodes.begin()), std::make_move_iterator(graph.nodes.end()));
  add_output_nodes(graph, variant, nodes);
  graph.nodes = std::move(nodes);
}

bool can_lie_outside(const Value& value) {
  return value.constant && value.constant->type != ElementType::kString &&
         value.constant->data.size() > kInlineConstantBytes;
}

}  // namespace

RegionModel region_model(const CompileRequest& request, Weights weights, std::int64_t opset) {
  Graph part = extract(*request.graph, request.region);
  add_border_nodes(part, request.variant);
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

RegionModel user_model(const CompileRequest& request) {
  OutsideWeights model = take_weights_outside(*request.model_bytes, *request.graph, request.region.constants,
                                              {.inline_limit = kInlineConstantBytes, .file = constant_file});
  return {.bytes = std::move(model.model), .constants = std::move(model.constants)};
}

std::string constant_file(std::size_t i) { return "c" + std::to_string(i); }

std::string port_name(const std::string& value_name, const Format& format) {
  return format.is_plain() ? value_name : value_name + "#collage." + format.name;
}

}  // namespace collage
