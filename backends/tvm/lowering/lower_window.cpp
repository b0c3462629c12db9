// Operators that slide a window over images whose channels are last.
#include <algorithm>

#include "backends/common/window/window.h"
#include "backends/tvm/lowering/rules_of_operators.h"

namespace collage::tvm {
namespace {

Done need_images(const Describer& describer, const Node& node) {
  const std::size_t rank = describer.rank(node.inputs[0]);
  if (rank != 4) return refuse(RefusalReason::kShape, "only two spatial axes");
  if (!describer.is_turned(rank)) return refuse(RefusalReason::kFormat, node.op_type + " wants its channels last");
  return {};
}

/// Top, left, bottom, right. Nothing is cut off: a window that reaches less far than the image needs no padding.
Extents padding_of(const Window& window) {
  return {window.begin[0], window.begin[1], std::max<std::int64_t>(window.end[0], 0),
          std::max<std::int64_t>(window.end[1], 0)};
}

Json options_of(const Window& window) {
  return {{"strides", window.strides}, {"padding", padding_of(window)}, {"dilations", window.dilations}};
}

}  // namespace

Done lower_convolution(Describer& describer, const Node& node) {
  if (auto ok = need_images(describer, node); !ok) return ok;
  const Graph& graph = describer.graph();
  const ValueId weights = node.inputs[1];
  const ValueId bias = input_of(node, 2);
  if (constant_of(graph, weights) == nullptr) return refuse(RefusalReason::kStructure, "computed weights");
  if (bias.valid() && constant_of(graph, bias) == nullptr) return refuse(RefusalReason::kStructure, "computed bias");
  const Extents own = describer.extents(weights);
  const auto window = window_of(node, spatial(own), spatial(describer.extents(node.inputs[0])),
                                spatial(describer.extents(node.outputs[0])));
  if (!window) return std::unexpected(window.error());
  if (window->sticks_out) return refuse(RefusalReason::kShape, "output larger than the window reaches");
  Json options = options_of(*window);
  options["groups"] = attribute_or<std::int64_t>(node, "group", 1);
  // The model has [out, in of a group, height, width].
  const std::int64_t pixels = own[2] * own[3];
  const std::string kernel =
      describer.constant(weights, {own[2], own[3], own[1], own[0]}, {own[3], 1, pixels, own[1] * pixels});
  std::string made = describer.add("convolution", {describer.read(node.inputs[0]), kernel}, std::move(options));
  if (bias.valid()) made = describer.add("add", {made, describer.constant(bias, {own[0]}, {1})});
  describer.write(node.outputs[0], made);
  return {};
}

Done lower_pooling(Describer& describer, const Node& node) {
  if (auto ok = need_images(describer, node); !ok) return ok;
  if (node.outputs.size() > 1 && node.outputs[1].valid())
    return refuse(RefusalReason::kOperator, "MaxPool with indices");
  const auto* kernel = find_attribute<std::vector<std::int64_t>>(node, "kernel_shape");
  if (kernel == nullptr || kernel->size() != 2) return refuse(RefusalReason::kAttribute, "kernel_shape");
  const auto window =
      window_of(node, *kernel, spatial(describer.extents(node.inputs[0])), spatial(describer.extents(node.outputs[0])));
  if (!window) return std::unexpected(window.error());
  const bool averages = node.op_type == "AveragePool";
  if (averages && window->sticks_out) return refuse(RefusalReason::kAttribute, "averages of windows that stick out");
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (window->begin[axis] >= window->kernel[axis] || window->end[axis] >= window->kernel[axis])
      return refuse(RefusalReason::kAttribute, "padding as large as the window");
  Json options = options_of(*window);
  options["kernel"] = window->kernel;
  if (averages) options["counts_padding"] = attribute_or<std::int64_t>(node, "count_include_pad", 0) != 0;
  describer.write(node.outputs[0], describer.add(averages ? "average_pool" : "max_pool",
                                                 {describer.read(node.inputs[0])}, std::move(options)));
  return {};
}

}  // namespace collage::tvm
