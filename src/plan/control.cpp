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

std::size_t rank_of(const ValueType& type) { return type.shape ? type.shape->size() : 0; }

std::vector<Slicing> slicings(const Graph& graph, const Node& node, const std::vector<ValueId>& list, std::size_t first,
                              const char* axes, const char* directions) {
  std::vector<Slicing> result;
  for (std::size_t i = first; i < list.size(); ++i) {
    const std::size_t rank = list[i].valid() ? rank_of(graph.value(list[i]).type) : 1;
    result.push_back({axis_of(node, axes, i - first, rank), is_reverse(node, directions, i - first)});
  }
  return result;
}

bool is_placeable(const ValueType& type) { return (type.is_static() || type.is_open()) && bits_of(type.element) >= 8; }

/// One element type and rank; equal extents unless the outer type leaves them to the run.
bool is_alike(const ValueType& outer, const ValueType& inner) {
  if (outer.is_static()) return outer == inner;
  return outer.element == inner.element && outer.shape->size() == inner.shape->size();
}

/// A tensor's type without one axis; the type itself when there is no such axis.
ValueType slice_type(ValueType type, std::uint32_t axis) {
  if (type.shape && axis < type.shape->size()) type.shape->erase(type.shape->begin() + axis);
  return type;
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
    if (i >= scanned) type = slice_type(type, axis_of(node, "scan_input_axes", i - scanned, rank_of(type)));
    types.push_back(std::move(type));
  }
  return types;
}

ValueId outer_of(const Graph& graph, const Node& node, const std::string& name) {
  const auto found = std::ranges::find_if(node.captures, [&](ValueId id) { return graph.value(id).name == name; });
  return found == node.captures.end() ? ValueId{} : *found;
}

/// Number of the carried value that formal input `i` is; nothing for another one.
std::optional<std::size_t> carried_number(const Node& node, ControlOperator op, std::size_t i) {
  const std::size_t first = leading_outputs(op) * 2;
  if (i < first || i - first >= carried_operands(node, op)) return std::nullopt;
  return i - first;
}

/// What the operator gives formal input `i`, whose type the body leaves open: of a carried value also what an iteration
/// makes of it.
ValueType formal_type(const Node& node, ControlOperator op, const Graph& body, std::size_t i, const ValueType& given) {
  const std::optional<std::size_t> carried = carried_number(node, op, i);
  const std::size_t output = leading_outputs(op) + carried.value_or(0);
  if (!carried || output >= body.outputs.size()) return given;
  return joined_type(given, body.value(body.outputs[output]).type).value_or(given);
}

Graph free_body(const Graph& graph, const Node& node, const Graph& body, const std::vector<ValueType>& formals) {
  const ControlOperator op = *control_operator_of(node);
  Graph free = body;
  free.opsets = graph.opsets;
  for (std::size_t i = 0; i < free.inputs.size() && i < formals.size(); ++i)
    if (ValueType& type = free.value(free.inputs[i]).type; !type.is_static())
      type = formal_type(node, op, body, i, formals[i]);
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
      return shape(fmt::format("{} {} is {}, not a tensor of known rank", what, graph.value(id).name,
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

/// Counts and conditions are one element each.
std::optional<Refusal> refuse_leading(const Graph& graph, const Node& node, ControlOperator op) {
  for (std::size_t i = 0; i < leading_operands(op); ++i)
    if (const ValueId id = input_of(node, i); id.valid() && !graph.value(id).type.is_static())
      return shape(
          fmt::format("operand {} is {}, not one element", graph.value(id).name, to_string(graph.value(id).type)));
  if (op != ControlOperator::kLoop) return std::nullopt;
  const Graph& body = *bodies_of(node).front();
  if (body.outputs.empty() || body.value(body.outputs.front()).type.is_static()) return std::nullopt;
  return shape("the condition that its body gives is not one element");
}

/// The type that output `number` of the body has when the node's output has `type`.
ValueType inner_type(const Node& node, ControlOperator op, std::size_t number, std::size_t carried,
                     const ValueType& type) {
  if (op == ControlOperator::kIf || number < carried) return type;
  const std::size_t scanned = number - carried;
  const std::uint32_t axis =
      op == ControlOperator::kScan ? axis_of(node, "scan_output_axes", scanned, rank_of(type)) : 0;
  return slice_type(type, axis);
}

Refusal another_type(const Graph& body, ValueId id, const ValueType& wanted) {
  return shape(fmt::format("{} of body {} is {} where {} is needed", body.value(id).name, body.name,
                           to_string(body.value(id).type), to_string(wanted)));
}

/// Whether scan output `number` grows at the end of its first axis.
bool stacks_forward(const Node& node, std::size_t number, std::size_t rank) {
  return axis_of(node, "scan_output_axes", number, rank) == 0 && !is_reverse(node, "scan_output_directions", number);
}

/// A carried value keeps its type, or is open in the body and behind the loop.
std::optional<Refusal> refuse_carried(const Graph& body, ValueId before, ValueId after, const ValueType& operand,
                                      const ValueType* result) {
  const ValueType& type = body.value(before).type;
  if (!is_alike(type, operand)) return another_type(body, before, operand);
  if (!is_alike(type, body.value(after).type)) return another_type(body, after, type);
  if (result == nullptr || (type.is_static() ? *result == type : result->is_open() && is_alike(*result, type)))
    return std::nullopt;
  return another_type(body, before, *result);
}

std::optional<Refusal> refuse_body(const Graph& graph, const Node& node, ControlOperator op, const Graph& body) {
  const std::vector<ValueType> formals = formal_types(graph, node, op);
  if (auto no = refuse_types(body, body.inputs, "input")) return no;
  if (auto no = refuse_types(body, body.outputs, "output")) return no;
  const std::size_t leading = leading_outputs(op);
  const std::size_t carried = carried_operands(node, op);
  if (body.outputs.size() != leading + node.outputs.size())
    return structure(fmt::format("body {} has {} outputs", body.name, body.outputs.size()));
  for (std::size_t i = 0; i < formals.size(); ++i)
    if (!is_alike(body.value(body.inputs[i]).type, formals[i])) return another_type(body, body.inputs[i], formals[i]);
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId made = body.outputs[leading + k];
    const ValueType* const result = node.outputs[k].valid() ? &graph.value(node.outputs[k]).type : nullptr;
    if (k < carried) {
      const std::size_t first = leading * 2;
      const ValueType& operand = graph.value(node.inputs[leading_operands(op) + k]).type;
      if (auto no = refuse_carried(body, body.inputs[first + k], made, operand, result)) return no;
    } else if (result != nullptr) {
      const ValueType wanted = inner_type(node, op, k, carried, *result);
      if (op == ControlOperator::kScan && result->is_open() && !stacks_forward(node, k - carried, rank_of(*result)))
        return shape(fmt::format("{} grows along another axis than the first, or from its end",
                                 graph.value(node.outputs[k]).name));
      const bool fits = result->is_open() ? wanted.element == body.value(made).type.element &&
                                                rank_of(wanted) == rank_of(body.value(made).type)
                                          : wanted == body.value(made).type;
      if (!fits) return another_type(body, made, wanted);
    }
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

std::optional<ValueType> joined_type(const ValueType& a, const ValueType& b) {
  const bool have_shapes = a.kind == ValueKind::kTensor && b.kind == ValueKind::kTensor && a.shape && b.shape;
  if (!have_shapes || a.element != b.element || a.shape->size() != b.shape->size()) return std::nullopt;
  ValueType joined = a;
  for (std::size_t d = 0; d < joined.shape->size(); ++d)
    if (Dim& dim = (*joined.shape)[d]; !dim.is_static() || dim.extent != (*b.shape)[d].extent) dim = Dim{};
  return joined;
}

std::optional<Refusal> refuse_bodies(const Graph& graph, const Node& node) {
  const std::optional<ControlOperator> op = control_operator_of(node);
  if (!op) return Refusal{.reason = RefusalReason::kOperator, .detail = node.op_type + " is no If, Loop or Scan"};
  if (auto no = refuse_form(node, *op)) return no;
  if (auto no = refuse_types(graph, node.inputs, "operand")) return no;
  if (auto no = refuse_leading(graph, node, *op)) return no;
  if (auto no = refuse_types(graph, node.captures, "captured value")) return no;
  if (*op == ControlOperator::kLoop && node.outputs.size() > carried_operands(node, *op)) {
    const std::optional<std::int64_t> trips = known_trips(graph, node);
    for (std::size_t k = carried_operands(node, *op); k < node.outputs.size(); ++k) {
      if (!node.outputs[k].valid() || !graph.value(node.outputs[k]).type.is_static()) continue;
      const ValueType& type = graph.value(node.outputs[k]).type;
      if (!trips) return shape(fmt::format("an unknown number of iterations gives {}", to_string(type)));
      if (type.extents().empty() || type.extents().front() != *trips)
        return shape(fmt::format("{} iterations give {}", *trips, to_string(type)));
    }
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
