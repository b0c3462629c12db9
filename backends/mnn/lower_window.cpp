// Nodes that slide a window: convolutions and poolings, of two spatial axes.
#include "backends/common/window/window.h"
#include "backends/mnn/lower.h"

namespace collage::mnn {
namespace {

Done check_activation(Lowering& lowering, const Node& node) {
  if (lowering.extents(node.inputs[0]).size() != 4)
    return refuse(RefusalReason::kShape, node.op_type + " of other than two spatial axes");
  lowering.facts.has_blocks = true;
  return {};
}

Done check_weights(const Lowering& lowering, const Node& node) {
  if (constant_of(lowering.graph, node.inputs[1]) == nullptr)
    return refuse(RefusalReason::kStructure, "computed weights");
  if (input_of(node, 2).valid() && constant_of(lowering.graph, node.inputs[2]) == nullptr)
    return refuse(RefusalReason::kStructure, "a computed bias");
  return {};
}

/// Rows come first in ONNX, columns in the library's pairs; its list of pads is [top, left, bottom, right].
void set_window(MNN::Convolution2DCommonT& common, const Window& window) {
  common.kernelY = static_cast<int>(window.kernel[0]);
  common.kernelX = static_cast<int>(window.kernel[1]);
  common.strideY = static_cast<int>(window.strides[0]);
  common.strideX = static_cast<int>(window.strides[1]);
  common.dilateY = static_cast<int>(window.dilations[0]);
  common.dilateX = static_cast<int>(window.dilations[1]);
  common.pads = {static_cast<int>(window.begin[0]), static_cast<int>(window.begin[1]), static_cast<int>(window.end[0]),
                 static_cast<int>(window.end[1])};
  common.padY = static_cast<int>(window.begin[0]);
  common.padX = static_cast<int>(window.begin[1]);
}

/// A convolution of either direction with the numbers of its constants.
int add_convolution(Lowering& lowering, const Node& node, MNN::OpType type, const Window& window,
                    std::int64_t out_channels) {
  auto convolution = std::make_unique<MNN::Convolution2DT>();
  convolution->common = std::make_unique<MNN::Convolution2DCommonT>();
  MNN::Convolution2DCommonT& common = *convolution->common;
  set_window(common, window);
  lowering.facts.convolves = true;
  common.group = static_cast<int>(attribute_or<std::int64_t>(node, "group", 1));
  common.inputCount = static_cast<int>(lowering.extents(node.inputs[0])[1]);
  common.outputCount = static_cast<int>(out_channels);
  const ValueId bias = input_of(node, 2);
  convolution->external = {lowering.net.number_of(node.inputs[1]), bias.valid() ? lowering.net.number_of(bias) : -1,
                           static_cast<std::int64_t>(Filling::kAsStored)};
  const int source = lowering.net.tensor(node.inputs[0], Order::kBlocks);
  return lowering.net.add(type, {source}, MNN::OpParameter_Convolution2D, std::move(convolution));
}

bool is_depthwise(const Lowering& lowering, const Node& node, std::int64_t out_channels) {
  const std::int64_t channels = lowering.extents(node.inputs[0])[1];
  return attribute_or<std::int64_t>(node, "group", 1) == channels && out_channels == channels && channels > 1;
}

void note(NetFacts& facts, const Window& window) {
  const Extents ones(2, 1);
  const std::int64_t size = window.kernel[0];
  if (window.kernel[1] != size || window.strides != ones || window.dilations != ones) return;
  (size == 1 ? facts.of_one : size == 3 ? facts.of_three : facts.of_other) = true;
}

/// Windows that the library computes as ONNX does.
Done check_pooling(const Window& window, const Extents& in, bool counts_padding) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t begin = window.begin[axis];
    const std::int64_t end = window.end[axis];
    const std::int64_t size = window.kernel[axis];
    if (window.dilations[axis] != 1) return refuse(RefusalReason::kAttribute, "dilated pooling");
    if (begin >= size || end >= size) return refuse(RefusalReason::kAttribute, "padding as large as the window");
    if (end < 0) return refuse(RefusalReason::kAttribute, "negative padding");
    // It shortens a window that is larger than what it slides over.
    if (in[axis] + begin + end < size) return refuse(RefusalReason::kShape, "a window larger than its source");
    // It counts as much padding behind as before.
    if (counts_padding && (window.sticks_out || end > begin))
      return refuse(RefusalReason::kAttribute, "counted padding that is not alike before and behind");
  }
  return {};
}

Done set_window(MNN::PoolT& pool, const Lowering& lowering, const Node& node) {
  const Extents in = spatial(lowering.extents(node.inputs[0]));
  const auto* kernel = find_attribute<std::vector<std::int64_t>>(node, "kernel_shape");
  if (kernel == nullptr || kernel->size() != 2) return refuse(RefusalReason::kAttribute, "kernel_shape");
  const auto window = window_of(node, *kernel, in, spatial(lowering.extents(node.outputs[0])));
  if (!window) return std::unexpected(window.error());
  const bool counts_padding =
      pool.type == MNN::PoolType_AVEPOOL && attribute_or<std::int64_t>(node, "count_include_pad", 0) != 0;
  if (auto ok = check_pooling(*window, in, counts_padding); !ok) return ok;
  pool.kernelY = static_cast<int>(window->kernel[0]);
  pool.kernelX = static_cast<int>(window->kernel[1]);
  pool.strideY = static_cast<int>(window->strides[0]);
  pool.strideX = static_cast<int>(window->strides[1]);
  pool.padY = static_cast<int>(window->begin[0]);
  pool.padX = static_cast<int>(window->begin[1]);
  pool.pads = {pool.padY, pool.padX, static_cast<int>(window->end[0]), static_cast<int>(window->end[1])};
  pool.countType = counts_padding ? MNN::AvgPoolCountType_INCLUDE_PADDING : MNN::AvgPoolCountType_EXCLUDE_PADDING;
  return {};
}

}  // namespace

Done lower_convolution(Lowering& lowering, const Node& node) {
  if (auto ok = check_activation(lowering, node); !ok) return ok;
  if (auto ok = check_weights(lowering, node); !ok) return ok;
  const Extents in = lowering.extents(node.inputs[0]);
  const Extents out = lowering.extents(node.outputs[0]);
  const auto window = window_of(node, spatial(lowering.extents(node.inputs[1])), spatial(in), spatial(out));
  if (!window) return std::unexpected(window.error());
  if (window->sticks_out) return refuse(RefusalReason::kShape, "output larger than the window reaches");
  const bool alone = is_depthwise(lowering, node, out[1]);
  if (!alone) note(lowering.facts, *window);
  const int made = add_convolution(lowering, node, alone ? MNN::OpType_ConvolutionDepthwise : MNN::OpType_Convolution,
                                   *window, out[1]);
  lowering.net.define(node.outputs[0], made, Order::kBlocks);
  return {};
}

Done lower_deconvolution(Lowering& lowering, const Node& node) {
  if (auto ok = check_activation(lowering, node); !ok) return ok;
  if (auto ok = check_weights(lowering, node); !ok) return ok;
  const Extents in = lowering.extents(node.inputs[0]);
  const Extents out = lowering.extents(node.outputs[0]);
  const auto window = transposed_window_of(node, spatial(lowering.extents(node.inputs[1])), spatial(in), spatial(out));
  if (!window) return std::unexpected(window.error());
  if (window->end[0] < 0 || window->end[1] < 0) return refuse(RefusalReason::kAttribute, "output_padding");
  const bool alone = is_depthwise(lowering, node, out[1]);
  if (!alone && attribute_or<std::int64_t>(node, "group", 1) != 1)
    return refuse(RefusalReason::kAttribute, "ConvTranspose in groups");
  const int made = add_convolution(
      lowering, node, alone ? MNN::OpType_DeconvolutionDepthwise : MNN::OpType_Deconvolution, *window, out[1]);
  lowering.net.define(node.outputs[0], made, Order::kBlocks);
  return {};
}

Done lower_pooling(Lowering& lowering, const Node& node) {
  if (auto ok = check_activation(lowering, node); !ok) return ok;
  if (node.outputs.size() > 1 && node.outputs[1].valid())
    return refuse(RefusalReason::kOperator, "MaxPool with indices");
  auto pool = std::make_unique<MNN::PoolT>();
  pool->type = node.op_type.ends_with("AveragePool") ? MNN::PoolType_AVEPOOL : MNN::PoolType_MAXPOOL;
  pool->isGlobal = node.op_type.starts_with("Global");
  pool->ceilModel = false;
  if (!pool->isGlobal)
    if (auto ok = set_window(*pool, lowering, node); !ok) return ok;
  const int source = lowering.net.tensor(node.inputs[0], Order::kBlocks);
  const int made = lowering.net.add(MNN::OpType_Pooling, {source}, MNN::OpParameter_Pool, std::move(pool));
  lowering.net.define(node.outputs[0], made, Order::kBlocks);
  return {};
}

}  // namespace collage::mnn
