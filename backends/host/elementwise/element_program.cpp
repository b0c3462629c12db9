// Element programs as values: how operands are read, JSON, what may share memory. The run is in element_kernel.cpp.
#include "elementwise/element_program.h"

#include <algorithm>
#include <numeric>

#include "layout.h"

namespace collage::host {
namespace {

std::vector<OperandAxis> merged(const std::vector<OperandAxis>& axes) {
  std::vector<OperandAxis> out;
  for (const OperandAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!out.empty() && out.back().stride == axis.stride * axis.extent) {
      out.back() = {out.back().extent * axis.extent, axis.stride};
    } else {
      out.push_back(axis);
    }
  }
  return out;
}

nlohmann::json type_to_json(ElementType type) { return static_cast<int>(type); }
ElementType type_of(const nlohmann::json& json) { return static_cast<ElementType>(json.get<std::uint8_t>()); }

}  // namespace

void set_access(Operand& operand, const std::vector<OperandAxis>& axes, std::int64_t count) {
  const std::vector<OperandAxis> simple = merged(axes);
  operand.run = 1;
  operand.period = 1;
  operand.axes.clear();
  const auto repeats = [&](std::size_t i) { return simple[i].stride == 0; };
  const auto is_dense = [&](std::size_t i) { return simple[i].stride == 1; };
  if (simple.empty() || (simple.size() == 1 && repeats(0))) {
    operand.run = std::max<std::int64_t>(count, 1);
  } else if (simple.size() == 1 && is_dense(0)) {
    operand.period = count;
  } else if (simple.size() == 2 && repeats(0) && is_dense(1)) {
    operand.period = simple[1].extent;
  } else if (simple.size() == 2 && is_dense(0) && repeats(1)) {
    operand.period = simple[0].extent;
    operand.run = simple[1].extent;
  } else if (simple.size() == 3 && repeats(0) && is_dense(1) && repeats(2)) {
    operand.period = simple[1].extent;
    operand.run = simple[2].extent;
  } else {
    operand.axes = simple;
  }
}

ElementProgram cast_between(const ValueType& type, const Format& from, const Format& to) {
  const Extents extents = type.extents();
  const Strides read = strides_of(extents, from);
  const Strides written = strides_of(extents, to);
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return written[a] > written[b]; });
  std::vector<OperandAxis> axes;
  for (const std::size_t axis : order) axes.push_back({extents[axis], read[axis]});
  Operand operand{.type = stored_element(type, from)};
  set_access(operand, axes, element_count(extents));
  Instruction cast{.operation = "Cast", .from = operand.type, .to = stored_element(type, to), .in = {0}, .params = {}};
  return {.count = element_count(extents),
          .operands = {std::move(operand)},
          .instructions = {std::move(cast)},
          .outputs = {1}};
}

nlohmann::json to_json(const ElementProgram& program) {
  nlohmann::json operands = nlohmann::json::array();
  for (const Operand& operand : program.operands) {
    nlohmann::json axes = nlohmann::json::array();
    for (const OperandAxis& axis : operand.axes) axes.push_back({axis.extent, axis.stride});
    operands.push_back({{"source", operand.source},
                        {"type", type_to_json(operand.type)},
                        {"run", operand.run},
                        {"period", operand.period},
                        {"axes", std::move(axes)}});
  }
  nlohmann::json instructions = nlohmann::json::array();
  for (const Instruction& instruction : program.instructions)
    instructions.push_back({{"operation", instruction.operation},
                            {"from", type_to_json(instruction.from)},
                            {"to", type_to_json(instruction.to)},
                            {"in", instruction.in},
                            {"params", instruction.params}});
  return {{"count", program.count},
          {"operands", std::move(operands)},
          {"instructions", std::move(instructions)},
          {"outputs", program.outputs}};
}

ElementProgram element_program_of(const nlohmann::json& json) {
  ElementProgram program;
  program.count = json.at("count").get<std::int64_t>();
  for (const nlohmann::json& entry : json.at("operands")) {
    Operand operand{.source = entry.at("source").get<std::uint32_t>(),
                    .type = type_of(entry.at("type")),
                    .run = entry.at("run").get<std::int64_t>(),
                    .period = entry.at("period").get<std::int64_t>(),
                    .axes = {}};
    for (const nlohmann::json& axis : entry.at("axes"))
      operand.axes.push_back({axis.at(0).get<std::int64_t>(), axis.at(1).get<std::int64_t>()});
    program.operands.push_back(std::move(operand));
  }
  for (const nlohmann::json& entry : json.at("instructions"))
    program.instructions.push_back({.operation = entry.at("operation").get<std::string>(),
                                    .from = type_of(entry.at("from")),
                                    .to = type_of(entry.at("to")),
                                    .in = entry.at("in").get<std::vector<std::uint32_t>>(),
                                    .params = entry.at("params").get<std::vector<double>>()});
  program.outputs = json.at("outputs").get<std::vector<std::uint32_t>>();
  return program;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_ports(const ElementProgram& program,
                                                                    std::size_t input_ports) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t output = 0; output < program.outputs.size(); ++output) {
    const std::size_t writer = program.outputs[output] - program.operands.size();
    for (std::uint32_t i = 0; i < program.operands.size(); ++i) {
      const Operand& operand = program.operands[i];
      const bool lies_alike = operand.axes.empty() && operand.run == 1 && operand.period == program.count;
      const bool same_size = bits_of(operand.type) == bits_of(program.instructions[writer].to);
      if (operand.source >= input_ports || !lies_alike || !same_size) continue;
      bool read_later = false;
      for (std::size_t k = writer + 1; k < program.instructions.size(); ++k)
        read_later = read_later || std::ranges::count(program.instructions[k].in, i) > 0;
      if (!read_later) pairs.emplace_back(output, operand.source);
    }
  }
  return pairs;
}

}  // namespace collage::host
