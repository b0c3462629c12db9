// Operators that slide a window, and resizing: images whose channels are last.
#include <algorithm>
#include <cmath>

#include "backends/common/window/window.h"
#include "lowering/rules_of_operators.h"

namespace collage::xnnpack {
namespace {

Done need_images(const Composer& composer, const Node& node) {
  const std::size_t rank = composer.rank(node.inputs[0]);
  if (rank < 3 || rank > 4 || composer.rank(node.outputs[0]) != rank)
    return refuse(RefusalReason::kShape, "only one or two spatial axes");
  if (!composer.is_turned(rank)) return refuse(RefusalReason::kFormat, node.op_type + " wants its channels last");
  return {};
}

Done need_weights(const Composer& composer, const Node& node, ValueId weights) {
  if (constant_of(composer.graph(), weights) == nullptr) return refuse(RefusalReason::kStructure, "computed weights");
  if (composer.rank(weights) != composer.rank(node.inputs[0]))
    return refuse(RefusalReason::kShape, "weights of another rank");
  return {};
}

Done need_constant_weights(const Composer& composer, const Node& node) {
  const Graph& graph = composer.graph();
  if (auto ok = need_weights(composer, node, node.inputs[1]); !ok) return ok;
  const ValueId bias = input_of(node, 2);
  if (bias.valid() && constant_of(graph, bias) == nullptr) return refuse(RefusalReason::kStructure, "computed bias");
  return {};
}

/// Height and width of a list for each spatial axis: images of one axis are one pixel high.
Extents two(Extents list, std::int64_t absent) {
  if (list.size() == 1) list.insert(list.begin(), absent);
  return list;
}

void set_window(Op& op, const Window& window) {
  op.kernel = two(window.kernel, 1);
  op.strides = two(window.strides, 1);
  op.dilations = two(window.dilations, 1);
  op.begin = two(window.begin, 0);
  op.end = two(window.end, 0);
  // Nothing is cut off: a window that reaches less far than the image needs no padding.
  for (std::int64_t& pixels : op.end) pixels = std::max<std::int64_t>(pixels, 0);
}

/// Extents and steps of weights, height and width being two axes.
struct Weights {
  std::int64_t first, second, height, width;
  [[nodiscard]] std::int64_t pixels() const { return height * width; }
};

Weights weights_of(const Composer& composer, ValueId weights) {
  const Extents own = composer.extents(weights);
  const Extents window = two(spatial(own), 1);
  return {.first = own[0], .second = own[1], .height = window[0], .width = window[1]};
}

void add_bias(Composer& composer, const Node& node, std::int64_t channels, Op& op) {
  const ValueId bias = input_of(node, 2);
  if (bias.valid()) op.inputs.push_back(composer.constant(bias, {channels}, {channels}, {1}));
}

/// Zeros that a Pad in front of a convolution adds to its pixels; the operation is taken out.
struct Padding {
  Extents begin, end;
};
std::optional<Padding> take_padding(Composer& composer, ValueId source, int& tensor) {
  const Op* pad = composer.sole_maker(source);
  if (pad == nullptr || pad->kind != OpKind::kPad || pad->alpha != 0.F) return std::nullopt;
  if (pad->begin[0] + pad->end[0] + pad->begin[3] + pad->end[3] != 0) return std::nullopt;
  Padding padding{.begin = {pad->begin[1], pad->begin[2]}, .end = {pad->end[1], pad->end[2]}};
  tensor = pad->inputs[0];
  composer.remove(pad);
  return padding;
}

bool is_depthwise(const Weights& weights, std::int64_t groups, std::int64_t channels) {
  return groups == channels && groups > 1 && weights.second == 1;
}

Done check_pooling(const Window& window, bool averages) {
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const bool is_padded = window.begin[axis] > 0 || window.end[axis] > 0;
    if (window.begin[axis] >= window.kernel[axis] || window.end[axis] >= window.kernel[axis])
      return refuse(RefusalReason::kAttribute, "padding as large as the window");
    // The library takes the nearest pixel for one outside, which lies between those of a dilated window.
    if (window.dilations[axis] != 1 && (averages || is_padded))
      return refuse(RefusalReason::kAttribute, "dilated and padded pooling");
    if (!averages && window.strides[axis] > window.kernel[axis])
      return refuse(RefusalReason::kAttribute, "strides larger than the window");
  }
  if (element_count(window.kernel) == 1) return refuse(RefusalReason::kAttribute, "a window of one pixel");
  return {};
}

/// The image that is pooled; of bytes that stand for nothing in this region any scale will do.
std::expected<int, Refusal> pooled(Composer& composer, ValueId id) {
  const ElementType type = composer.graph().value(id).type.element;
  if (!is_byte(type) || composer.has_tensor(id)) return composer.read(id);
  return composer.read_bytes({.id = id, .type = type, .scales = {1.F}}, composer.rank(id));
}

/// The window that covers the whole image.
Window whole_window(const Extents& in) {
  const Extents ones(in.size(), 1);
  const Extents zeros(in.size(), 0);
  return {.kernel = in, .strides = ones, .dilations = ones, .begin = zeros, .end = zeros};
}

/// Zeros that are counted, as an operation of their own.
int pad_with_zeros(Composer& composer, int source, Op& pooling) {
  Op pad{.kind = OpKind::kPad,
         .inputs = {source},
         .begin = {0, pooling.begin[0], pooling.begin[1], 0},
         .end = {0, pooling.end[0], pooling.end[1], 0}};
  Extents padded = composer.tensor(source).extents;
  for (std::size_t axis = 0; axis < 4; ++axis) padded[axis] += pad.begin[axis] + pad.end[axis];
  pad.output = composer.temporary(padded);
  pooling.begin = pooling.end = {0, 0};
  const int output = pad.output;
  composer.add(std::move(pad));
  return output;
}

/// Scales that are not the ratio of the extents move the pixels.
bool has_scales_of_extents(const Graph& graph, const Node& node, const Extents& in, const Extents& out) {
  const Tensor* scales = constant_of(graph, input_of(node, 2));
  if (scales == nullptr || scales->size() == 0) return true;
  const auto given = floats_of(*scales);
  if (!given || given->size() != in.size()) return false;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    const double ratio = static_cast<double>(out[axis]) / static_cast<double>(in[axis]);
    if (std::abs((*given)[axis] - ratio) > 1e-6 * ratio) return false;
  }
  return true;
}

/// The convolution without its operands; `unpadded` are the pixels before a Pad that is computed with it.
std::expected<Op, Refusal> shaped_convolution(const Composer& composer, const Node& node, ValueId weights,
                                              const Extents& unpadded, const Extents& begin, const Extents& end) {
  const auto window = window_of(node, spatial(composer.extents(weights)), unpadded,
                                spatial(composer.extents(node.outputs[0])), begin, end);
  if (!window) return std::unexpected(window.error());
  if (window->sticks_out) return refuse(RefusalReason::kShape, "output larger than the window reaches");
  Op op{.kind = OpKind::kConvolution, .groups = attribute_or<std::int64_t>(node, "group", 1)};
  set_window(op, *window);
  const std::int64_t channels = composer.extents(node.inputs[0])[1];
  if (is_depthwise(weights_of(composer, weights), op.groups, channels)) op.kind = OpKind::kDepthwiseConvolution;
  return op;
}

/// Weights of a convolution as the library reads them.
TensorInfo gathered_weights(const Weights& weights, OpKind kind) {
  const std::int64_t pixels = weights.pixels();
  if (kind == OpKind::kDepthwiseConvolution)
    return {.extents = {1, weights.height, weights.width, weights.first},
            .gathered = {weights.height, weights.width, weights.first},
            .steps = {weights.width, 1, pixels}};
  const Extents extents = {weights.first, weights.height, weights.width, weights.second};
  return {.extents = extents, .gathered = extents, .steps = {weights.second * pixels, weights.width, 1, pixels}};
}

}  // namespace

Done lower_byte_convolution(Composer& composer, const Node& node, const ByteProduct& product) {
  if (auto ok = need_images(composer, node); !ok) return ok;
  const ValueId id = product.weights.id;
  if (auto ok = need_weights(composer, node, id); !ok) return ok;
  const Extents in = spatial(composer.extents(node.inputs[0]));
  auto op = shaped_convolution(composer, node, id, in, {}, {});
  if (!op) return std::unexpected(op.error());
  const Weights weights = weights_of(composer, id);
  const int channels = op->kind == OpKind::kDepthwiseConvolution ? 3 : 0;
  return add_byte_product(composer, *std::move(op), product, gathered_weights(weights, op->kind), channels);
}

Done lower_convolution(Composer& composer, const Node& node) {
  if (auto ok = need_images(composer, node); !ok) return ok;
  if (auto ok = need_constant_weights(composer, node); !ok) return ok;
  const ValueId source = node.inputs[0];
  int tensor = composer.read(source);
  const auto padding = take_padding(composer, source, tensor);
  const Extents in = composer.extents(source);
  Extents unpadded = spatial(in);
  for (std::size_t axis = 0; padding && axis < unpadded.size(); ++axis) {
    const std::size_t at = axis + 2 - unpadded.size();
    unpadded[axis] -= padding->begin[at] + padding->end[at];
  }
  const auto tail = [&](const Extents& both) {
    return Extents(both.end() - static_cast<std::ptrdiff_t>(unpadded.size()), both.end());
  };
  auto op = shaped_convolution(composer, node, node.inputs[1], unpadded, padding ? tail(padding->begin) : Extents{},
                               padding ? tail(padding->end) : Extents{});
  if (!op) return std::unexpected(op.error());
  const Weights weights = weights_of(composer, node.inputs[1]);
  op->inputs = {tensor, composer.constant(node.inputs[1], gathered_weights(weights, op->kind))};
  add_bias(composer, node, weights.first, *op);
  op->output = composer.write(node.outputs[0]);
  composer.add(*std::move(op));
  return {};
}

Done lower_deconvolution(Composer& composer, const Node& node) {
  if (auto ok = need_images(composer, node); !ok) return ok;
  if (auto ok = need_constant_weights(composer, node); !ok) return ok;
  const Extents in = composer.extents(node.inputs[0]);
  const Extents out = composer.extents(node.outputs[0]);
  auto window = transposed_window_of(node, spatial(composer.extents(node.inputs[1])), spatial(in), spatial(out));
  if (!window) return std::unexpected(window.error());
  Op op{.kind = OpKind::kDeconvolution,
        .inputs = {composer.read(node.inputs[0])},
        .groups = attribute_or<std::int64_t>(node, "group", 1)};
  Extents adjustment;
  for (std::int64_t& cut : window->end) {
    adjustment.push_back(std::max<std::int64_t>(-cut, 0));
    cut = std::max<std::int64_t>(cut, 0);
  }
  set_window(op, *window);
  op.adjustment = two(adjustment, 0);
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (op.adjustment[axis] >= op.strides[axis])
      return refuse(RefusalReason::kAttribute, "output padding as large as the stride");
  // The model has [in, out of a group, window], the library [out, window, in of a group].
  const Weights weights = weights_of(composer, node.inputs[1]);
  const std::int64_t pixels = weights.pixels();
  const std::int64_t each = weights.first / op.groups;
  const std::int64_t step = weights.second * pixels;
  op.inputs.push_back(composer.constant(
      node.inputs[1], {op.groups * weights.second, weights.height, weights.width, each},
      {op.groups, weights.second, weights.height, weights.width, each}, {each * step, pixels, weights.width, 1, step}));
  add_bias(composer, node, op.groups * weights.second, op);
  op.output = composer.write(node.outputs[0]);
  composer.add(std::move(op));
  return {};
}

Done lower_pooling(Composer& composer, const Node& node) {
  if (auto ok = need_images(composer, node); !ok) return ok;
  if (node.outputs.size() > 1 && node.outputs[1].valid())
    return refuse(RefusalReason::kOperator, "MaxPool with indices");
  const Extents in = spatial(composer.extents(node.inputs[0]));
  const Extents out = spatial(composer.extents(node.outputs[0]));
  const bool averages = node.op_type == "AveragePool";
  std::expected<Window, Refusal> window = whole_window(in);
  if (!node.op_type.starts_with("Global")) {
    const auto* kernel = find_attribute<std::vector<std::int64_t>>(node, "kernel_shape");
    if (kernel == nullptr || kernel->size() != in.size()) return refuse(RefusalReason::kAttribute, "kernel_shape");
    window = window_of(node, *kernel, in, out);
  }
  if (!window) return std::unexpected(window.error());
  if (auto ok = check_pooling(*window, averages); !ok) return ok;
  const auto source = pooled(composer, node.inputs[0]);
  if (!source) return std::unexpected(source.error());
  Op op{.kind = averages ? OpKind::kAveragePooling : OpKind::kMaxPooling, .inputs = {*source}};
  set_window(op, *window);
  const bool is_padded = element_count({op.begin[0] + op.end[0] + op.begin[1] + op.end[1]}) != 0;
  if (averages && is_padded && attribute_or<std::int64_t>(node, "count_include_pad", 0) != 0) {
    if (window->sticks_out) return refuse(RefusalReason::kAttribute, "ceil_mode with counted padding");
    op.inputs[0] = pad_with_zeros(composer, op.inputs[0], op);
  }
  op.output = composer.write_like(node.outputs[0], op.inputs[0]);
  composer.add(std::move(op));
  return {};
}

Done lower_resize(Composer& composer, const Node& node) {
  if (auto ok = need_images(composer, node); !ok) return ok;
  const Extents in = composer.extents(node.inputs[0]);
  const Extents out = composer.extents(node.outputs[0]);
  if (in.size() != 4 || in[0] != out[0] || in[1] != out[1])
    return refuse(RefusalReason::kShape, "only height and width are resized");
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && constant_of(composer.graph(), node.inputs[i]) == nullptr)
      return refuse(RefusalReason::kStructure, "computed extents");
  auto transform = attribute_or<std::string>(node, "coordinate_transformation_mode", "half_pixel");
  if (transform == "pytorch_half_pixel" && out[2] > 1 && out[3] > 1) transform = "half_pixel";
  const bool known = transform == "half_pixel" || transform == "asymmetric" ||
                     (transform == "align_corners" && out[2] > 1 && out[3] > 1);
  if (attribute_or<std::string>(node, "mode", "nearest") != "linear" || !known)
    return refuse(RefusalReason::kAttribute, "only linear interpolation");
  if (attribute_or<std::int64_t>(node, "antialias", 0) != 0 ||
      attribute_or<std::string>(node, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return refuse(RefusalReason::kAttribute, "antialias or kept aspect ratio");
  if (transform != "align_corners" && !has_scales_of_extents(composer.graph(), node, in, out))
    return refuse(RefusalReason::kAttribute, "scales that are not the ratio of the extents");
  Op op{.kind = OpKind::kResize, .algorithm = transform, .inputs = {composer.read(node.inputs[0])}};
  op.output = composer.write(node.outputs[0]);
  composer.add(std::move(op));
  return {};
}

}  // namespace collage::xnnpack
