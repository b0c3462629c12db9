#include "backends/tvm/lowering/describer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace collage::tvm {
namespace {

Extents row_major_steps(const Extents& extents) {
  Extents steps(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * extents[axis];
  return steps;
}

template <class List, class Item>
std::size_t position_or_add(List& list, const Item& item) {
  const auto found = std::ranges::find(list, item);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(item);
  return list.size() - 1;
}

/// The extents that are not 1.
Extents long_ones(Extents extents) {
  std::erase(extents, 1);
  return extents;
}

}  // namespace

Describer::Describer(const Graph& graph, const Region& region, Layout layout)
    : graph_(graph), region_(region), layout_(layout) {
  const auto format_of = [&](ValueId id) {
    const bool has_plain_bytes = !is_turned(rank(id)) || same_bytes(graph.value(id).type, plain(), channels_last());
    return has_plain_bytes ? plain() : channels_last();
  };
  for (std::size_t port = 0; port < region.inputs.size(); ++port) {
    const ValueId id = region.inputs[port];
    tensors_[id] = "x" + std::to_string(port);
    lowered_.description.inputs.push_back(extents_in_memory(extents(id)));
    lowered_.input_formats.push_back(format_of(id));
  }
  for (const ValueId id : region.outputs) lowered_.output_formats.push_back(format_of(id));
}

std::vector<std::size_t> Describer::order(std::size_t rank) const {
  if (is_turned(rank)) return {0, 2, 3, 1};
  std::vector<std::size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

std::int64_t Describer::axis_in_memory(std::size_t rank, std::int64_t axis) const {
  const std::vector<std::size_t> axes = order(rank);
  const auto wanted = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  return std::ranges::find(axes, wanted) - axes.begin();
}

Extents Describer::extents_in_memory(const Extents& extents) const {
  Extents result;
  for (const std::size_t axis : order(extents.size())) result.push_back(extents[axis]);
  return result;
}

std::string Describer::constant(ValueId id, Extents extents, Extents steps) {
  const auto index = static_cast<std::uint32_t>(position_or_add(lowered_.constants, id));
  const ConstantRead read{.index = index, .extents = std::move(extents), .steps = std::move(steps)};
  return "w" + std::to_string(position_or_add(lowered_.description.constants, read));
}

std::string Describer::literal(float value) {
  // What JSON has no number for is far away enough.
  constexpr float kMost = std::numeric_limits<float>::max();
  return add("literal", {}, {{"value", std::clamp(value, -kMost, kMost)}});
}

std::string Describer::read(ValueId id) {
  if (constant_of(graph_, id) != nullptr) return *read_broadcast(id, rank(id));
  return tensors_.at(id);
}

std::optional<std::string> Describer::read_broadcast(ValueId id, std::size_t result_rank) {
  const Extents own = extents(id);
  if (const Tensor* tensor = constant_of(graph_, id); tensor != nullptr && element_count(own) == 1)
    if (const float number = tensor->data.as<float>()[0]; std::isfinite(number)) return literal(number);
  Extents aligned(result_rank - std::min(own.size(), result_rank), 1);
  aligned.insert(aligned.end(), own.begin(), own.end());
  const Extents turned = extents_in_memory(aligned);
  if (constant_of(graph_, id) != nullptr) {
    const Extents steps = row_major_steps(aligned);
    Extents turned_steps;
    for (const std::size_t axis : order(aligned.size())) turned_steps.push_back(steps[axis]);
    return constant(id, turned, turned_steps);
  }
  if (own.size() == result_rank || !is_turned(result_rank)) return tensors_.at(id);
  if (long_ones(turned) != long_ones(own)) return std::nullopt;
  return add("reshape", {tensors_.at(id)}, {{"extents", turned}});
}

std::string Describer::add(const char* op, const std::vector<std::string>& operands, Json more) {
  more["op"] = op;
  more["in"] = operands;
  lowered_.description.ops.push_back(std::move(more));
  return "t" + std::to_string(lowered_.description.ops.size() - 1);
}

std::expected<Lowered, Refusal> Describer::take() {
  std::set<std::string> seen;
  for (const ValueId id : region_.outputs) {
    const std::string& tensor = tensors_.at(id);
    if (!tensor.starts_with("t") || !seen.insert(tensor).second)
      return refuse(RefusalReason::kStructure, "an output that nothing computes");
    lowered_.description.outputs.push_back(tensor);
  }
  return std::move(lowered_);
}

}  // namespace collage::tvm
