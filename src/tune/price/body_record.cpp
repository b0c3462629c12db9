#include "tune/price/body_record.h"

#include <cstring>
#include <optional>

#include "plan/control.h"

namespace collage {
namespace {

Result<Tensor> value_in(const Graph& graph, const Record& record, ValueId id) {
  const Value& value = graph.value(id);
  if (value.constant) return *value.constant;
  return record.tensor(value.name);
}

/// The only element of a recorded or constant value; nothing when it is not known.
template <class T>
std::optional<T> scalar_in(const Graph& graph, const Record& record, ValueId id) {
  if (!id.valid()) return std::nullopt;
  const auto tensor = value_in(graph, record, id);
  if (!tensor || tensor->data.size() != sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, tensor->data.data(), sizeof(T));
  return value;
}

/// The slice of the first iteration.
Result<Tensor> first_slice(const Tensor& whole, const Slicing& slicing, const std::string& where) {
  const std::size_t axis = slicing.axis;
  const std::int64_t count = whole.extents[axis];
  if (count == 0)
    return fail(ExitCode::kUnsupported, "tune/no-iteration", where, "an operand without slices", "at least one");
  const auto at = whole.extents.begin() + slicing.axis;
  const std::size_t size = byte_count(whole.type, Extents(at + 1, whole.extents.end()));
  const auto blocks = static_cast<std::size_t>(element_count(Extents(whole.extents.begin(), at)));
  const std::size_t offset = slicing.reverse ? static_cast<std::size_t>(count - 1) * size : 0;
  Tensor slice{.type = whole.type, .extents = whole.extents, .data = {}, .strings = {}};
  slice.extents.erase(slice.extents.begin() + slicing.axis);
  slice.data = Buffer::make(size * blocks, [&](std::span<std::byte> out) {
    for (std::size_t b = 0; b < blocks; ++b)
      std::memcpy(out.data() + b * size, whole.data.data() + offset + b * size * static_cast<std::size_t>(count), size);
  });
  return slice;
}

/// The formal inputs in the first iteration, in order.
Result<std::vector<Tensor>> formal_inputs(const Graph& graph, const Node& node, const Record& record) {
  const ControlForm form = control_form(graph, node);
  std::vector<Tensor> inputs;
  if (form.op == ControlOperator::kIf) return inputs;
  if (form.op == ControlOperator::kLoop) {
    const bool goes_on = true;
    inputs.push_back(make_tensor<std::int64_t>(ElementType::kInt64, {}, std::vector<std::int64_t>{0}));
    inputs.push_back({.type = ElementType::kBool,
                      .extents = {},
                      .data = Buffer::copy_of(std::as_bytes(std::span(&goes_on, 1))),
                      .strings = {}});
  }
  const std::size_t scanned = node.inputs.size() - form.scan_inputs.size();
  for (std::size_t i = leading_operands(form.op); i < node.inputs.size(); ++i) {
    COLLAGE_TRY(Tensor tensor, value_in(graph, record, node.inputs[i]));
    if (i >= scanned) {
      COLLAGE_TRY(tensor, first_slice(tensor, form.scan_inputs[i - scanned], node.name));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

/// Iterations of a Loop, which its stacks show.
std::optional<std::int64_t> stacked_height(const Graph& graph, const Node& node, const Record& record) {
  if (control_operator_of(node) != ControlOperator::kLoop) return std::nullopt;
  for (std::size_t k = node.inputs.size() - 2; k < node.outputs.size(); ++k) {
    if (!node.outputs[k].valid()) continue;
    const auto stack = value_in(graph, record, node.outputs[k]);
    if (stack && !stack->extents.empty()) return stack->extents.front();
  }
  return std::nullopt;
}

}  // namespace

Result<void> write_body_inputs(const Graph& graph, const Node& node, std::size_t body, const Record& record,
                               const std::string& path) {
  const Graph& inner = *bodies_of(node)[body];
  COLLAGE_TRY(const std::vector<Tensor> formals, formal_inputs(graph, node, record));
  COLLAGE_TRY(RecordWriter writer, RecordWriter::create(path));
  for (std::size_t i = 0; i < formals.size(); ++i)
    COLLAGE_TRY_VOID(writer.add(inner.value(inner.inputs[i]).name, formals[i]));
  for (const ValueId id : captures_of(graph, node, body)) {
    COLLAGE_TRY(const Tensor tensor, value_in(graph, record, id));
    COLLAGE_TRY_VOID(writer.add(graph.value(id).name, tensor));
  }
  return writer.finish();
}

std::vector<double> body_runs(const Graph& graph, const Node& node, const Record& record) {
  const std::optional<ControlOperator> op = control_operator_of(node);
  if (op == ControlOperator::kIf) {
    const auto condition = scalar_in<std::uint8_t>(graph, record, node.inputs.front());
    if (!condition) return {0.5, 0.5};
    return *condition != 0 ? std::vector<double>{0, 1} : std::vector<double>{1, 0};
  }
  if (const auto trips = known_trips(graph, node)) return {static_cast<double>(*trips)};
  const auto trips = scalar_in<std::int64_t>(graph, record, input_of(node, 0));
  if (input_of(node, 1).valid() && scalar_in<std::uint8_t>(graph, record, node.inputs[1]) == 0) return {0};
  if (trips && keeps_condition(node)) return {static_cast<double>(std::max<std::int64_t>(0, *trips))};
  if (const auto height = stacked_height(graph, node, record)) return {static_cast<double>(*height)};
  return {1};
}

}  // namespace collage
