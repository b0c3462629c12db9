// Operators that compute along axes.
#include <algorithm>

#include "backends/tvm/lowering/rules_of_operators.h"

namespace collage::tvm {
namespace {

/// The axes of ONNX that a reduction runs over; nothing when they are computed.
std::optional<Extents> reduced_axes(const Describer& describer, const Node& node) {
  const std::size_t rank = describer.rank(node.inputs[0]);
  Extents axes;
  if (node.op_type.starts_with("Global")) {
    for (std::size_t axis = 2; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return axes;
  }
  if (const ValueId given = input_of(node, 1); given.valid()) {
    const Tensor* tensor = constant_of(describer.graph(), given);
    if (tensor == nullptr || tensor->type != ElementType::kInt64) return std::nullopt;
    const auto numbers = tensor->data.as<std::int64_t>();
    axes.assign(numbers.begin(), numbers.end());
  }
  if (!axes.empty()) return axes;
  if (attribute_or<std::int64_t>(node, "noop_with_empty_axes", 0) != 0) return std::nullopt;
  for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return axes;
}

const char* name_of(const Node& node) {
  if (node.op_type == "ReduceSum") return "sum";
  if (node.op_type == "ReduceMax" || node.op_type == "GlobalMaxPool") return "max";
  if (node.op_type == "ReduceMin") return "min";
  return "mean";
}

}  // namespace

Done lower_softmax(Describer& describer, const Node& node) {
  const std::size_t rank = describer.rank(node.inputs[0]);
  if (rank == 0) return refuse(RefusalReason::kShape, "Softmax of a number");
  const std::int64_t axis = describer.axis_in_memory(rank, attribute_or<std::int64_t>(node, "axis", -1));
  describer.write(node.outputs[0], describer.add("softmax", {describer.read(node.inputs[0])}, {{"axis", axis}}));
  return {};
}

Done lower_reduction(Describer& describer, const Node& node) {
  const std::size_t rank = describer.rank(node.inputs[0]);
  if (rank == 0) return refuse(RefusalReason::kShape, "a reduction of a number");
  const auto axes = reduced_axes(describer, node);
  if (!axes) return refuse(RefusalReason::kAttribute, "axes that are computed, or none");
  const bool keeps_axes = node.op_type.starts_with("Global") || attribute_or<std::int64_t>(node, "keepdims", 1) != 0;
  Extents in_memory;
  for (const std::int64_t axis : *axes) in_memory.push_back(describer.axis_in_memory(rank, axis));
  std::ranges::sort(in_memory);
  if (describer.is_turned(describer.rank(node.outputs[0])) && !keeps_axes)
    return refuse(RefusalReason::kFormat, "an image of what has more axes");
  if (describer.is_turned(rank) && !keeps_axes) {
    // What remains may be in another order than the one it is to have.
    Extents left;
    for (const std::size_t axis : describer.order(rank))
      if (std::ranges::find(in_memory, describer.axis_in_memory(rank, static_cast<std::int64_t>(axis))) ==
          in_memory.end())
        left.push_back(static_cast<std::int64_t>(axis));
    if (!std::ranges::is_sorted(left)) return refuse(RefusalReason::kFormat, "axes that remain in another order");
  }
  describer.write(node.outputs[0], describer.add(name_of(node), {describer.read(node.inputs[0])},
                                                 {{"axes", in_memory}, {"keeps_axes", keeps_axes}}));
  return {};
}

}  // namespace collage::tvm
