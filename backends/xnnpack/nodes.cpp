#include "nodes.h"

#include <algorithm>
#include <limits>
#include <map>

#include "library.h"

namespace collage::xnnpack {
namespace {

const std::map<std::string, xnn_unary_operator, std::less<>>& unary_operators() {
  static const std::map<std::string, xnn_unary_operator, std::less<>> kNames = {
      {"abs", xnn_unary_abs},
      {"bankers_rounding", xnn_unary_bankers_rounding},
      {"ceiling", xnn_unary_ceiling},
      {"clamp", xnn_unary_clamp},
      {"convert", xnn_unary_convert},
      {"elu", xnn_unary_elu},
      {"exp", xnn_unary_exp},
      {"floor", xnn_unary_floor},
      {"gelu", xnn_unary_gelu},
      {"hardswish", xnn_unary_hardswish},
      {"leaky_relu", xnn_unary_leaky_relu},
      {"log", xnn_unary_log},
      {"negate", xnn_unary_negate},
      {"sigmoid", xnn_unary_sigmoid},
      {"square", xnn_unary_square},
      {"square_root", xnn_unary_square_root},
      {"tanh", xnn_unary_tanh}};
  return kNames;
}

const std::map<std::string, xnn_binary_operator, std::less<>>& binary_operators() {
  static const std::map<std::string, xnn_binary_operator, std::less<>> kNames = {
      {"add", xnn_binary_add},          {"divide", xnn_binary_divide},     {"maximum", xnn_binary_maximum},
      {"minimum", xnn_binary_minimum},  {"multiply", xnn_binary_multiply}, {"prelu", xnn_binary_prelu},
      {"subtract", xnn_binary_subtract}};
  return kNames;
}

std::uint32_t resize_flags(const std::string& algorithm) {
  if (algorithm == "align_corners") return XNN_FLAG_ALIGN_CORNERS;
  require(algorithm == "half_pixel" || algorithm == "asymmetric", "an unknown interpolation");
  return algorithm == "asymmetric" ? XNN_FLAG_TENSORFLOW_LEGACY_MODE : 0;
}

template <class Map>
auto named(const Map& names, const std::string& name) {
  const auto found = names.find(name);
  require(found != names.end(), "an unknown algorithm");
  return found->second;
}

/// Adds operations to a subgraph whose tensors are defined.
class Definer {
 public:
  Definer(const Program& program, xnn_subgraph_t subgraph, std::vector<std::uint32_t> ids)
      : program_(program), subgraph_(subgraph), ids_(std::move(ids)) {}

  xnn_status define(const Op& op) {
    switch (op.kind) {
      case OpKind::kConvolution:
        return define_convolution(op);
      case OpKind::kDepthwiseConvolution:
        return define_depthwise(op);
      case OpKind::kDeconvolution:
        return define_deconvolution(op);
      case OpKind::kFullyConnected:
        return define_fully_connected(op);
      case OpKind::kBatchMatMul:
        return xnn_define_batch_matrix_multiply(subgraph_, input(op, 0), input(op, 1), output(op),
                                                op.transposed ? XNN_FLAG_TRANSPOSE_B : 0);
      case OpKind::kMaxPooling:
      case OpKind::kAveragePooling:
        return define_pooling(op);
      case OpKind::kReduction:
        return define_reduction(op);
      case OpKind::kUnary:
        return define_unary(op);
      case OpKind::kBinary:
        return xnn_define_binary(subgraph_, named(binary_operators(), op.algorithm), nullptr, input(op, 0),
                                 input(op, 1), output(op), 0);
      case OpKind::kSoftmax:
        return xnn_define_softmax(subgraph_, input(op, 0), output(op), 0);
      case OpKind::kTranspose: {
        const auto axes = sizes_of(op.axes);
        require(axes.size() == extents(op.inputs[0]).size(), "an order of other axes");
        return xnn_define_static_transpose(subgraph_, axes.size(), axes.data(), input(op, 0), output(op), 0);
      }
      case OpKind::kReshape: {
        const auto shape = sizes_of(extents(op.output));
        return xnn_define_static_reshape(subgraph_, shape.size(), shape.data(), input(op, 0), output(op), 0);
      }
      case OpKind::kConcat:
        return define_concat(op);
      case OpKind::kPad: {
        const auto begin = sizes_of(op.begin);
        const auto end = sizes_of(op.end);
        const std::size_t rank = extents(op.inputs[0]).size();
        require(begin.size() == rank && end.size() == rank, "padding of other axes");
        return xnn_define_static_constant_pad(subgraph_, begin.data(), end.data(), op.alpha, input(op, 0), output(op),
                                              0);
      }
      case OpKind::kResize:
        return define_resize(op);
    }
    return xnn_status_invalid_parameter;
  }

 private:
  [[nodiscard]] std::uint32_t input(const Op& op, std::size_t at) const {
    require(at < op.inputs.size(), "an operand that is missing");
    return ids_[static_cast<std::size_t>(op.inputs[at])];
  }
  [[nodiscard]] std::uint32_t output(const Op& op) const { return ids_[static_cast<std::size_t>(op.output)]; }
  [[nodiscard]] const Extents& extents(int tensor) const {
    return program_.tensors[static_cast<std::size_t>(tensor)].extents;
  }

  /// Numbers of a window, which must be two.
  static std::uint32_t at(const Extents& list, std::size_t axis) {
    require(list.size() == 2, "a window of other axes");
    const std::int64_t number = list[axis];
    require(number >= 0 && number <= std::numeric_limits<std::int32_t>::max(), "a number out of range");
    return static_cast<std::uint32_t>(number);
  }

  /// The bias has a number for each channel; the library does not look.
  std::uint32_t bias(const Op& op, std::int64_t channels) const {
    if (op.inputs.size() < 3) return XNN_INVALID_VALUE_ID;
    require(extents(op.inputs[2]) == Extents{channels}, "a bias of another size");
    return input(op, 2);
  }

  /// Extents of an image and of weights, as far as the library trusts them.
  struct Shapes {
    std::int64_t groups, in, out;  ///< channels of a group
  };
  [[nodiscard]] Shapes shapes_of(const Op& op) const {
    require(op.inputs.size() >= 2 && extents(op.inputs[0]).size() == 4, "no image");
    const Extents& weights = extents(op.inputs[1]);
    require(weights.size() == 4 && op.groups >= 1 && weights[1] == at(op.kernel, 0) && weights[2] == at(op.kernel, 1),
            "weights of another window");
    const Shapes shapes{.groups = op.groups, .in = weights[3], .out = weights[0] / op.groups};
    require(shapes.out * op.groups == weights[0] && shapes.in * op.groups == extents(op.inputs[0])[3],
            "weights of other channels");
    return shapes;
  }

  xnn_status define_convolution(const Op& op) {
    const Shapes shapes = shapes_of(op);
    return xnn_define_convolution_2d(subgraph_, at(op.begin, 0), at(op.end, 1), at(op.end, 0), at(op.begin, 1),
                                     at(op.kernel, 0), at(op.kernel, 1), at(op.strides, 0), at(op.strides, 1),
                                     at(op.dilations, 0), at(op.dilations, 1),
                                     static_cast<std::uint32_t>(shapes.groups), static_cast<std::size_t>(shapes.in),
                                     static_cast<std::size_t>(shapes.out), op.least, op.most, input(op, 0),
                                     input(op, 1), bias(op, shapes.out * shapes.groups), output(op), 0);
  }

  xnn_status define_depthwise(const Op& op) {
    require(op.inputs.size() >= 2 && extents(op.inputs[0]).size() == 4, "no image");
    const Extents& weights = extents(op.inputs[1]);
    const std::int64_t channels = extents(op.inputs[0])[3];
    require(weights.size() == 4 && weights[0] == 1 && weights[1] == at(op.kernel, 0) &&
                weights[2] == at(op.kernel, 1) && channels >= 1 && weights[3] % channels == 0,
            "weights of another window");
    return xnn_define_depthwise_convolution_2d(
        subgraph_, at(op.begin, 0), at(op.end, 1), at(op.end, 0), at(op.begin, 1), at(op.kernel, 0), at(op.kernel, 1),
        at(op.strides, 0), at(op.strides, 1), at(op.dilations, 0), at(op.dilations, 1),
        static_cast<std::uint32_t>(weights[3] / channels), static_cast<std::size_t>(channels), op.least, op.most,
        input(op, 0), input(op, 1), bias(op, weights[3]), output(op), 0);
  }

  xnn_status define_deconvolution(const Op& op) {
    const Shapes shapes = shapes_of(op);
    return xnn_define_deconvolution_2d(subgraph_, at(op.begin, 0), at(op.end, 1), at(op.end, 0), at(op.begin, 1),
                                       at(op.adjustment, 0), at(op.adjustment, 1), at(op.kernel, 0), at(op.kernel, 1),
                                       at(op.strides, 0), at(op.strides, 1), at(op.dilations, 0), at(op.dilations, 1),
                                       static_cast<std::uint32_t>(shapes.groups), static_cast<std::size_t>(shapes.in),
                                       static_cast<std::size_t>(shapes.out), op.least, op.most, input(op, 0),
                                       input(op, 1), bias(op, shapes.out * shapes.groups), output(op), 0);
  }

  xnn_status define_fully_connected(const Op& op) {
    require(op.inputs.size() >= 2, "no weights");
    const Extents& weights = extents(op.inputs[1]);
    const Extents& in = extents(op.inputs[0]);
    require(weights.size() == 2 && !in.empty() && in.back() == weights[op.transposed ? 0 : 1],
            "weights of another size");
    return xnn_define_fully_connected(subgraph_, op.least, op.most, input(op, 0), input(op, 1),
                                      bias(op, weights[op.transposed ? 1 : 0]), output(op),
                                      op.transposed ? XNN_FLAG_TRANSPOSE_WEIGHTS : 0);
  }

  xnn_status define_pooling(const Op& op) {
    require(extents(op.inputs[0]).size() == 4, "no image");
    if (op.kind == OpKind::kAveragePooling)
      return xnn_define_average_pooling_2d(subgraph_, at(op.begin, 0), at(op.end, 1), at(op.end, 0), at(op.begin, 1),
                                           at(op.kernel, 0), at(op.kernel, 1), at(op.strides, 0), at(op.strides, 1),
                                           op.least, op.most, input(op, 0), output(op), 0);
    return xnn_define_max_pooling_2d(subgraph_, at(op.begin, 0), at(op.end, 1), at(op.end, 0), at(op.begin, 1),
                                     at(op.kernel, 0), at(op.kernel, 1), at(op.strides, 0), at(op.strides, 1),
                                     at(op.dilations, 0), at(op.dilations, 1), op.least, op.most, input(op, 0),
                                     output(op), 0);
  }

  xnn_status define_reduction(const Op& op) {
    require(op.algorithm == "mean" || op.algorithm == "sum", "an unknown reduction");
    const std::vector<std::int64_t> axes(op.axes.begin(), op.axes.end());
    return xnn_define_static_reduce_v2(subgraph_, op.algorithm == "sum" ? xnn_reduce_sum : xnn_reduce_mean, axes.size(),
                                       axes.data(), input(op, 0), output(op), op.keeps_axes ? XNN_FLAG_KEEP_DIMS : 0);
  }

  xnn_status define_unary(const Op& op) {
    xnn_unary_params params{};
    const xnn_unary_operator what = named(unary_operators(), op.algorithm);
    if (what == xnn_unary_clamp) params.clamp = {.min = op.least, .max = op.most};
    if (what == xnn_unary_elu) params.elu.alpha = op.alpha;
    if (what == xnn_unary_leaky_relu) params.leaky_relu.negative_slope = op.alpha;
    return xnn_define_unary(subgraph_, what, &params, input(op, 0), output(op), 0);
  }

  xnn_status define_concat(const Op& op) {
    require(op.axes.size() == 1 && op.axes[0] >= 0 && op.axes[0] < XNN_MAX_TENSOR_DIMS, "an unknown axis");
    const auto axis = static_cast<std::int32_t>(op.axes[0]);
    const auto in = [&](std::size_t i) { return input(op, i); };
    switch (op.inputs.size()) {
      case 2:
        return xnn_define_concatenate2(subgraph_, axis, in(0), in(1), output(op), 0);
      case 3:
        return xnn_define_concatenate3(subgraph_, axis, in(0), in(1), in(2), output(op), 0);
      case 4:
        return xnn_define_concatenate4(subgraph_, axis, in(0), in(1), in(2), in(3), output(op), 0);
      case 5:
        return xnn_define_concatenate5(subgraph_, axis, in(0), in(1), in(2), in(3), in(4), output(op), 0);
      default:
        return xnn_status_unsupported_parameter;
    }
  }

  xnn_status define_resize(const Op& op) {
    const Extents& out = extents(op.output);
    require(out.size() == 4, "no image");
    return xnn_define_static_resize_bilinear_2d(subgraph_, static_cast<std::size_t>(out[1]),
                                                static_cast<std::size_t>(out[2]), input(op, 0), output(op),
                                                resize_flags(op.algorithm));
  }

  const Program& program_;
  xnn_subgraph_t subgraph_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace

void define_nodes(const Program& program, xnn_subgraph_t subgraph, std::vector<std::uint32_t> ids) {
  Definer definer(program, subgraph, std::move(ids));
  for (const Op& op : program.ops)
    check_status(definer.define(op), "operation " + std::to_string(&op - program.ops.data()));
}

}  // namespace collage::xnnpack
