// Programs for chains of element-wise operators: one pass over the elements, in tiles that stay in the first-level
// cache, however long the chain. Broadcast operands are read through a small index pattern instead of being expanded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/json_numbers.h"

namespace collage::host {

/// One axis of an operand that no simple rule describes; stride in elements, 0 repeats.
struct OperandAxis {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
  bool operator==(const OperandAxis&) const = default;
};

/// Where element i of the iteration comes from: operand[(i / run) % period], or a walk over `axes` when there are any.
/// run 1 and period = count: the operand lies as the output does. period 1: a scalar.
struct Operand {
  std::uint32_t source = 0;  ///< counts the input ports, then the artifact's constants
  ElementType type = ElementType::kFloat32;
  std::int64_t run = 1;
  std::int64_t period = 1;
  std::vector<OperandAxis> axes;  ///< outermost first
  bool operator==(const Operand&) const = default;
};

/// register[out] = operation(register[in]...); registers count the operands first, then instruction results.
struct Instruction {
  std::string operation;
  ElementType from = ElementType::kFloat32;  ///< type of the first data operand
  ElementType to = ElementType::kFloat32;    ///< type of the result
  std::vector<std::uint32_t> in;             ///< at most 3
  std::vector<double> params;                ///< at most 2
  bool operator==(const Instruction&) const = default;
};

struct ElementProgram {
  std::int64_t count = 0;  ///< elements of every output
  std::vector<Operand> operands;
  std::vector<Instruction> instructions;  ///< the i-th writes register operands.size() + i
  std::vector<std::uint32_t> outputs;     ///< register of each output port; results of instructions, all different
  bool operator==(const ElementProgram&) const = default;
};

/// A tensor brought from one common format to another of other elements.
[[nodiscard]] ElementProgram cast_between(const ValueType& type, const Format& from, const Format& to);

/// Describes an operand whose strides along the iteration's axes (outermost first) are `axes`.
void set_access(Operand& operand, const std::vector<OperandAxis>& axes, std::int64_t count);

[[nodiscard]] nlohmann::json to_json(const ElementProgram& program);
/// Throws nlohmann::json::exception when keys are missing or of a wrong type.
[[nodiscard]] ElementProgram element_program_of(const nlohmann::json& json);

/// (output, input) ports that may share memory: the operand lies as the output does, has elements of the same size, and
/// no instruction reads it after the one that writes the output.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place_ports(const ElementProgram& program,
                                                                                  std::size_t input_ports);

/// Error backend/bad-artifact when the program does not fit the ports.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_elements(const ElementProgram& program, const LoadRequest& request);

}  // namespace collage::host
