#include "plan/control.h"

#include <algorithm>

#include <fmt/format.h>

namespace collage {
namespace {

using Axes = std::vector<std::int64_t>;

/// Axis `number` of an attribute that lists one for each slice; 0 where it lists none.
std::uint32_t axis_of(const Node& node, const char* attribute, std::size_t number, std::size_t rank) {
  const auto* axes = find_attribute<Axes>(node, attribute);
  const std::int64_t axis = axes != nullptr && number < axes->size() ? (*axes)[number] : 0;
  return static_cast<std::uint32_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

bool is_reverse(const Node& node, const char* attribute, std::size_t number) {
  const auto* directions = find_attribute<Axes>(node, attribute);
  return directions != nullptr && number < directions->size() && (*directions)[number] == 1;
}

std::size_t scan_input_count(const Node& node, ControlOperator op) {
  if (op != ControlOperator::kScan) return 0;
  return static_cast<std::size_t>(attribute_or<std::int64_t>(node, "num_scan_inputs", 0));
}

/// Operands that become carried values: between the leading and the scanned ones.
std::size_t carried_operands(const Node& node, ControlOperator op) {
  if (op == ControlOperator::kIf) return 0;
  const std::size_t others = leading_operands(op) + scan_input_count(node, op);
  return node.inputs.size() < others ? 0 : node.inputs.size() - others;
}

std::vector<Slicing> slicings(const Graph& graph, const Node& node, const std::vector<ValueId>& list, std::size_t first,
                              const char* axes, const char* directions) {
  std::vector<Slicing> result;
  for (std::size_t i = first; i < list.size(); ++i) {
    const std::size_t rank = list[i].valid() ? graph.value(list[i]).type.extents().size() : 1;
    result.push_back({axis_of(node, axes, i - first, rank), is_reverse(node, directions, i - first)});
  }
  return result;
}

bool is_placeable(const ValueType& type) {
  return type.is_static() && type.element != ElementType::kString && bits_of(type.element) >= 8;
}

/// A tensor's type without one axis; the type itself when there is no such axis.
ValueType slice_type(const ValueType& type, std::uint32_t axis) {
  Extents extents = type.extents();
  if (axis >= extents.size()) return type;
  extents.erase(extents.begin() + axis);
  return ValueType::tensor(type.element, extents);
}

/// What the node gives the body as its formal inputs.
std::vector<ValueType> formal_types(const Graph& graph, const Node& node, ControlOperator op) {
  std::vector<ValueType> types;
  if (op == ControlOperator::kIf) return types;
  if (op == ControlOperator::kLoop)
    types = {ValueType::tensor(ElementType::kInt64, {}), ValueType::tensor(ElementType::kBool, {})};
  const std::size_t scanned = node.inputs.size() - scan_input_count(node, op);
  for (std::size_t i = leading_operands(op); i < node.inputs.size(); ++i) {
    ValueType type = node.inputs[i].valid() ? graph.value(node.inputs[i]).type : ValueType{};
    if (i >= scanned && type.is_static())
      type = slice_type(type, axis_of(node, "scan_input_axes", i - scanned, type.extents().size()));
    types.push_back(std::move(type));
  }
  return types;
}

ValueId outer_of(const Graph& graph, const Node& node, const std::string& name) {
  const auto found = std::ranges::find_if(node.captures, [&](ValueId id) { return graph.value(id).name == name; });
  return found == node.captures.end() ? ValueId{} : *found;
}

Graph free_body(const Graph& graph, const Node& node, const Graph& body, const std::vector<ValueType>& formals) {
  Graph free = body;
  free.opsets = graph.opsets;
  for (std::size_t i = 0; i < free.inputs.size() && i < formals.size(); ++i)
    if (ValueType& type = free.value(free.inputs[i]).type; !type.is_static()) type = formals[i];
  for (const ValueId id : free.captures) {
    const ValueId outer = outer_of(graph, node, free.value(id).name);
    if (!outer.valid()) continue;
    free.value(id).type = graph.value(outer).type;
    free.value(id).constant = graph.value(outer).constant;
    if (!free.value(id).constant) free.inputs.push_back(id);
  }
  free.captures.clear();
  return free;
}

Refusal structure(std::string detail) { return {.reason = RefusalReason::kStructure, .detail = std::move(detail)}; }
Refusal shape(std::string detail) { return {.reason = RefusalReason::kShape, .detail = std::move(detail)}; }

std::optional<Refusal> refuse_types(const Graph& graph, const std::vector<ValueId>& ids, const char* what) {
  for (const ValueId id : ids)
    if (id.valid() && !is_placeable(graph.value(id).type))
      return shape(fmt::format("{} {} is {}, not a tensor of known shape", what, graph.value(id).name,
                               to_string(graph.value(id).type)));
  return std::nullopt;
}

/// A bool in the graph that is constant and true, perhaps through copies.
bool is_always_true(const Graph& graph, const Uses& uses, ValueId id) {
  while (id.valid()) {
    if (const Tensor* tensor = constant_of(graph, id))
      return tensor->type == ElementType::kBool && tensor->size() == 1 && tensor->data.bytes().front() != std::byte{0};
    const NodeId producer = uses.producer[id.index];
    if (!producer.valid() || !is_op(graph.node(producer), "Identity")) return false;
    id = graph.node(producer).inputs.front();
  }
  return false;
}

/// The type that output `number` of the body has when the node's output has `type`.
ValueType inner_type(const Node& node, ControlOperator op, std::size_t number, std::size_t carried,
                     const ValueType& type) {
  if (op == ControlOperator::kIf || number < carried) return type;
  const std::size_t scanned = number - carried;
  const std::uint32_t axis =
      op == ControlOperator::kScan ? axis_of(node, "scan_output_axes", scanned, type.extents().size()) : 0;
  return slice_type(type, axis);
}

std::optional<Refusal> refuse_body(const Graph& graph, const Node& node, ControlOperator op, const Graph& body) {
  const std::vector<ValueType> formals = formal_types(graph, node, op);
  const std::size_t captured = body.inputs.size() - std::min(formals.size(), body.inputs.size());
  for (std::size_t i = 0; i + captured < body.inputs.size(); ++i)
    if (body.value(body.inputs[i]).type != formals[i])
      return shape(fmt::format("{} of body {} is {}, the operator gives it {}", body.value(body.inputs[i]).name,
                               body.name, to_string(body.value(body.inputs[i]).type), to_string(formals[i])));
  if (auto no = refuse_types(body, body.inputs, "input")) return no;
  if (auto no = refuse_types(body, body.outputs, "output")) return no;
  const std::size_t leading = leading_outputs(op);
  const std::size_t carried = carried_operands(node, op);
  if (body.outputs.size() != leading + node.outputs.size())
    return structure(fmt::format("body {} has {} outputs", body.name, body.outputs.size()));
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueType& seen = body.value(body.outputs[leading + k]).type;
    ValueType wanted = seen;
    if (node.outputs[k].valid()) wanted = inner_type(node, op, k, carried, graph.value(node.outputs[k]).type);
    if (op != ControlOperator::kIf && k < carried) wanted = formals[leading_operands(op) + k];
    if (seen != wanted)
      return shape(fmt::format("{} of body {} is {} where {} is needed", body.value(body.outputs[leading + k]).name,
                               body.name, to_string(seen), to_string(wanted)));
  }
  return std::nullopt;
}

/// Operators as the operator set has them; their form was checked at import, but a graph may come from elsewhere.
std::optional<Refusal> refuse_form(const Node& node, ControlOperator op) {
  const std::vector<const Graph*> bodies = bodies_of(node);
  if (bodies.size() != body_count(op)) return structure(fmt::format("{} bodies", bodies.size()));
  const std::size_t leading = leading_operands(op);
  const std::size_t scanned = scan_input_count(node, op);
  if (node.inputs.size() < leading + scanned || (op == ControlOperator::kScan && scanned == 0))
    return structure(fmt::format("{} operands", node.inputs.size()));
  if (node.outputs.size() < carried_operands(node, op)) return structure("fewer results than carried values");
  for (std::size_t i = op == ControlOperator::kLoop ? 2 : 0; i < node.inputs.size(); ++i)
    if (!node.inputs[i].valid()) return structure("an omitted operand");
  const std::size_t formals = op == ControlOperator::kIf ? 0 : leading_outputs(op) * 2 + node.inputs.size() - leading;
  for (const Graph* body : bodies)
    if (body->inputs.size() != formals)
      return structure(fmt::format("body {} has {} inputs", body->name, body->inputs.size()));
  return std::nullopt;
}

}  // namespace

std::optional<ControlOperator> control_operator_of(const Node& node) {
  if (is_op(node, "If")) return ControlOperator::kIf;
  if (is_op(node, "Loop")) return ControlOperator::kLoop;
  if (is_op(node, "Scan")) return ControlOperator::kScan;
  return std::nullopt;
}

std::vector<Graph> free_bodies(const Graph& graph, const Node& node) {
  std::vector<Graph> result;
  const std::optional<ControlOperator> op = control_operator_of(node);
  if (!op) return result;
  const std::vector<ValueType> formals = formal_types(graph, node, *op);
  for (const Graph* body : bodies_of(node)) result.push_back(free_body(graph, node, *body, formals));
  return result;
}

std::vector<ValueId> captures_of(const Graph& graph, const Node& node, std::size_t body) {
  std::vector<ValueId> result;
  const Graph& inner = *bodies_of(node)[body];
  for (const ValueId id : inner.captures)
    if (const ValueId outer = outer_of(graph, node, inner.value(id).name);
        outer.valid() && !graph.value(outer).constant)
      result.push_back(outer);
  return result;
}

bool keeps_condition(const Node& loop) {
  const Graph& body = *bodies_of(loop).front();
  const Uses uses = uses_of(body);
  ValueId id = body.outputs.front();
  if (is_always_true(body, uses, id)) return true;
  while (uses.producer[id.index].valid() && is_op(body.node(uses.producer[id.index]), "Identity"))
    id = body.node(uses.producer[id.index]).inputs.front();
  return id == body.inputs[1];
}

std::optional<std::int64_t> known_trips(const Graph& graph, const Node& node) {
  const std::optional<ControlOperator> op = control_operator_of(node);
  if (op == ControlOperator::kScan) {
    const std::size_t first = node.inputs.size() - scan_input_count(node, *op);
    const ValueType& type = graph.value(node.inputs[first]).type;
    if (!type.is_static() || type.extents().empty()) return std::nullopt;
    return type.extents()[axis_of(node, "scan_input_axes", 0, type.extents().size()) % type.extents().size()];
  }
  if (op != ControlOperator::kLoop) return std::nullopt;
  const Tensor* trips = constant_of(graph, input_of(node, 0));
  const ValueId condition = input_of(node, 1);
  if (trips == nullptr || trips->size() != 1) return std::nullopt;
  if (condition.valid() && !is_always_true(graph, uses_of(graph), condition)) return std::nullopt;
  if (!keeps_condition(node)) return std::nullopt;
  return std::max<std::int64_t>(0, trips->data.as<std::int64_t>()[0]);
}

std::optional<Refusal> refuse_bodies(const Graph& graph, const Node& node) {
  const std::optional<ControlOperator> op = control_operator_of(node);
  if (!op) return Refusal{.reason = RefusalReason::kOperator, .detail = node.op_type + " is no If, Loop or Scan"};
  if (auto no = refuse_form(node, *op)) return no;
  if (auto no = refuse_types(graph, node.inputs, "operand")) return no;
  if (auto no = refuse_types(graph, node.captures, "captured value")) return no;
  if (*op == ControlOperator::kLoop && node.outputs.size() > carried_operands(node, *op)) {
    const std::optional<std::int64_t> trips = known_trips(graph, node);
    if (!trips) return shape("its scan outputs grow with a trip count that is known after the run only");
    for (std::size_t k = carried_operands(node, *op); k < node.outputs.size(); ++k)
      if (const ValueId id = node.outputs[k];
          id.valid() && is_placeable(graph.value(id).type) &&
          (graph.value(id).type.extents().empty() || graph.value(id).type.extents().front() != *trips))
        return shape(fmt::format("{} iterations give {}", *trips, to_string(graph.value(id).type)));
  }
  if (auto no = refuse_types(graph, node.outputs, "result")) return no;
  for (const Graph& body : free_bodies(graph, node))
    if (auto no = refuse_body(graph, node, *op, body)) return no;
  return std::nullopt;
}

ControlForm control_form(const Graph& graph, const Node& node) {
  ControlForm form{
      .op = *control_operator_of(node), .operands = {}, .results = {}, .scan_inputs = {}, .scan_outputs = {}};
  if (form.op == ControlOperator::kIf) return form;
  const std::size_t scanned = node.inputs.size() - scan_input_count(node, form.op);
  form.scan_inputs = slicings(graph, node, node.inputs, scanned, "scan_input_axes", "scan_input_directions");
  form.scan_outputs = slicings(graph, node, node.outputs, carried_operands(node, form.op), "scan_output_axes",
                               "scan_output_directions");
  return form;
}

}  // namespace collage
