#include "backend/tensor_code.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace collage {
namespace {

constexpr std::size_t kMostDimensions = 8;

/// The value behind an argument; invalid when there is none.
ValueId value_of(const TensorArgument& argument, const TensorCode& code, const Region& region) {
  const std::vector<ValueId>& values = argument.kind == ArgumentKind::kInput    ? region.inputs
                                       : argument.kind == ArgumentKind::kOutput ? region.outputs
                                                                                : code.constants;
  return argument.index < values.size() ? values[argument.index] : ValueId{};
}

bool is_constant_of(const Graph& graph, ValueId id) {
  return id.valid() && id.index < graph.values.size() && graph.value(id).constant.has_value();
}

/// Elements from the first to the last one that the argument reaches; nothing when it reaches before the first.
std::optional<std::int64_t> reach_of(const TensorArgument& argument) {
  std::int64_t reach = 1;
  for (std::size_t i = 0; i < argument.extents.size(); ++i) {
    std::int64_t step = 0;
    if (argument.extents[i] < 1 || argument.strides[i] < 0) return std::nullopt;
    if (__builtin_mul_overflow(argument.extents[i] - 1, argument.strides[i], &step)) return std::nullopt;
    if (__builtin_add_overflow(reach, step, &reach)) return std::nullopt;
  }
  return reach;
}

std::optional<std::string> fault_of_argument(const TensorArgument& argument, const TensorCode& code, const Graph& graph,
                                             const Region& region) {
  if (argument.extents.size() != argument.strides.size() || argument.extents.size() > kMostDimensions)
    return fmt::format("{} extents, {} strides", argument.extents.size(), argument.strides.size());
  const ValueId id = value_of(argument, code, region);
  if (!id.valid()) return fmt::format("port or constant {}, which is not there", argument.index);
  const ValueType& type = graph.value(id).type;
  if (!type.is_static()) return fmt::format("a buffer on {} of unknown shape", graph.value(id).name);
  if (type.element != argument.type) return fmt::format("{} for {}", name_of(argument.type), to_string(type));
  std::int64_t elements = 1;
  for (const std::int64_t extent : type.extents()) elements *= extent;
  const auto reach = reach_of(argument);
  if (!reach || *reach > elements)
    return fmt::format("a buffer that leaves {} {}", to_string(type), graph.value(id).name);
  return std::nullopt;
}

}  // namespace

TensorArgument dense_argument(ArgumentKind kind, std::uint32_t index, ElementType type, Extents extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return {.kind = kind, .index = index, .type = type, .extents = std::move(extents), .strides = std::move(strides)};
}

std::optional<std::string> fault_of(const TensorCode& code, const Graph& graph, const Region& region) {
  if (code.pipeline.empty()) return "no pipeline";
  for (const ValueId id : code.constants)
    if (!is_constant_of(graph, id)) return "a constant that is none of the graph's";
  if (code.parameters.size() > code.arguments.size())
    return fmt::format("{} parameters for {} arguments", code.parameters.size(), code.arguments.size());
  std::set<std::uint32_t> written;
  for (std::size_t i = 0; i < code.arguments.size(); ++i) {
    const TensorArgument& argument = code.arguments[i];
    const bool is_output = argument.kind == ArgumentKind::kOutput;
    if (is_output != (i >= code.parameters.size()))
      return fmt::format("argument {}: inputs and constants have a parameter and come first", i);
    if (auto fault = fault_of_argument(argument, code, graph, region)) return fmt::format("argument {}: {}", i, *fault);
    if (is_output) written.insert(argument.index);
  }
  if (written.size() != region.outputs.size())
    return fmt::format("{} of {} outputs written", written.size(), region.outputs.size());
  return std::nullopt;
}

}  // namespace collage
