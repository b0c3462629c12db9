#include "backends/mnn/check_net.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "backends/mnn/net_writer.h"
#include "ir/broadcast.h"

namespace collage::mnn {
namespace {

constexpr std::size_t kMostAxes = 6;
/// The library counts bytes with 31 bits.
constexpr std::int64_t kMostElements = (std::int64_t{1} << 29) - 1;
/// Numbers of windows: products of two of them fit 64 bits, and are compared with sides of images.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 29;
/// Channels of the largest block.
constexpr std::int64_t kBlock = 16;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// A tensor as the library sees it.
struct Shape {
  Extents extents;
  MNN::MNN_DATA_FORMAT format = MNN::MNN_DATA_FORMAT_NCHW;

  [[nodiscard]] bool is_rows() const { return format == MNN::MNN_DATA_FORMAT_NCHW; }
  [[nodiscard]] bool is_blocks() const { return format == MNN::MNN_DATA_FORMAT_NC4HW4; }
};

std::int64_t in_blocks(std::int64_t channels) { return (channels + kBlock - 1) / kBlock * kBlock; }

Extents extents_of(const std::vector<std::int32_t>& dims) { return {dims.begin(), dims.end()}; }

void check_shape(const Shape& shape) {
  require(shape.extents.size() <= kMostAxes, "a tensor of too many axes");
  Extents stored = shape.extents;
  require(std::ranges::all_of(stored, [](std::int64_t extent) { return extent >= 1; }), "a tensor without elements");
  require(shape.is_rows() || stored.size() == 4, "an image of other axes");
  if (shape.is_blocks()) stored[1] = in_blocks(stored[1]);
  require(element_count(stored) <= kMostElements, "a tensor beyond what the library counts");
}

/// Different ones of so many.
bool are_axes(const std::vector<std::int32_t>& axes, std::size_t rank) {
  return std::ranges::all_of(axes, [&](std::int32_t axis) { return axis >= 0 && std::cmp_less(axis, rank); }) &&
         std::set<std::int32_t>(axes.begin(), axes.end()).size() == axes.size();
}

Extents broadcast(const Extents& one, const Extents& other) {
  auto result = broadcast_extents(one, other);
  require(result.has_value(), "operands that cannot be broadcast");
  return *std::move(result);
}

/// Numbers of a window, rows first.
struct WindowNumbers {
  Extents kernel, strides, dilations, begin, end;

  [[nodiscard]] std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// A list of pads is [top, left, bottom, right]; without one there are none.
void set_pads(WindowNumbers& window, const std::vector<std::int32_t>& pads, std::int32_t pad_y, std::int32_t pad_x) {
  require(pads.empty() || pads.size() == 4, "pads of other axes");
  window.begin = pads.empty() ? Extents{0, 0} : Extents{pads[0], pads[1]};
  window.end = pads.empty() ? Extents{0, 0} : Extents{pads[2], pads[3]};
  require(pad_y == window.begin[0] && pad_x == window.begin[1], "pads that contradict each other");
}

void check_numbers(const WindowNumbers& window) {
  const auto are_from = [](const Extents& numbers, std::int64_t least) {
    return std::ranges::all_of(numbers, [&](std::int64_t number) { return number >= least && number <= kMostPixels; });
  };
  require(are_from(window.kernel, 1) && are_from(window.strides, 1) && are_from(window.dilations, 1) &&
              are_from(window.begin, 0) && are_from(window.end, 0),
          "a window of numbers out of range");
}

Shape slid(const WindowNumbers& window, const Shape& source, std::int64_t channels) {
  Shape result = source;
  result.extents[1] = channels;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t padded = window.begin[axis] + source.extents[axis + 2] + window.end[axis];
    require(padded <= kMostPixels && padded >= window.reach(axis), "a window larger than its source");
    result.extents[axis + 2] = (padded - window.reach(axis)) / window.strides[axis] + 1;
  }
  return result;
}

WindowNumbers window_of(const MNN::Convolution2DCommonT& common) {
  WindowNumbers window{.kernel = {common.kernelY, common.kernelX},
                       .strides = {common.strideY, common.strideX},
                       .dilations = {common.dilateY, common.dilateX},
                       .begin = {},
                       .end = {}};
  set_pads(window, common.pads, common.padY, common.padX);
  check_numbers(window);
  return window;
}

bool is_depthwise(MNN::OpType type) {
  return type == MNN::OpType_ConvolutionDepthwise || type == MNN::OpType_DeconvolutionDepthwise;
}

void check_channels(const MNN::Convolution2DCommonT& common, const MNN::OpT& op, const Shape& source) {
  require(common.group >= 1 && common.outputCount >= 1 && common.inputCount == source.extents[1],
          "a convolution of other channels");
  require(common.inputCount % common.group == 0 && common.outputCount % common.group == 0,
          "a convolution of broken groups");
  if (is_depthwise(op.type))
    require(common.group == common.inputCount && common.group == common.outputCount, "channels that are not alone");
  else if (op.type == MNN::OpType_Deconvolution)
    require(common.group == 1, "a deconvolution in groups");
  const Extents weights = {in_blocks(common.inputCount / common.group), in_blocks(common.outputCount), common.kernelY,
                           common.kernelX};
  require(element_count(weights) <= kMostElements, "weights beyond what the library counts");
}

void check_form(const MNN::Convolution2DT& convolution) {
  require(convolution.common != nullptr, "a convolution without numbers");
  const MNN::Convolution2DCommonT& common = *convolution.common;
  require(common.padMode == MNN::PadMode_CAFFE && common.outPads.empty() && !common.hasOutputShape &&
              !(common.relu && common.relu6) && convolution.weight.empty() && convolution.bias.empty() &&
              !convolution.quanParameter && !convolution.symmetricQuan && !convolution.sparseParameter,
          "a convolution of other form");
}

Shape convolution(const MNN::OpT& op, const Shape& source) {
  check_form(*op.main.AsConvolution2D());
  const MNN::Convolution2DCommonT& common = *op.main.AsConvolution2D()->common;
  require(source.is_blocks(), "a convolution of other than blocks");
  const WindowNumbers window = window_of(common);
  check_channels(common, op, source);
  if (op.type == MNN::OpType_Convolution || op.type == MNN::OpType_ConvolutionDepthwise)
    return slid(window, source, common.outputCount);
  Shape result = source;
  result.extents[1] = common.outputCount;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t full = (source.extents[axis + 2] - 1) * window.strides[axis] + window.reach(axis);
    require(full <= kMostPixels, "a deconvolution beyond what the library counts");
    result.extents[axis + 2] = full - window.begin[axis] - window.end[axis];
  }
  // Every pixel's products with all weights lie apart before they are added.
  Extents products = source.extents;
  products[1] = in_blocks(common.outputCount);
  products.insert(products.end(), {common.kernelY, common.kernelX});
  require(element_count(products) <= kMostElements, "a deconvolution beyond what the library counts");
  return result;
}

Shape pooling(const MNN::PoolT& pool, const Shape& source) {
  require(source.is_blocks(), "a pooling of other than blocks");
  require((pool.type == MNN::PoolType_MAXPOOL || pool.type == MNN::PoolType_AVEPOOL) && !pool.ceilModel &&
              pool.padType == MNN::PoolPadType_CAFFE && pool.dataType == MNN::DataType_DT_FLOAT,
          "a pooling of other form");
  if (pool.isGlobal) {
    require(pool.pads.empty(), "a pooling of all pixels with pads");
    return {.extents = {source.extents[0], source.extents[1], 1, 1}, .format = source.format};
  }
  WindowNumbers window{.kernel = {pool.kernelY, pool.kernelX},
                       .strides = {pool.strideY, pool.strideX},
                       .dilations = {1, 1},
                       .begin = {},
                       .end = {}};
  set_pads(window, pool.pads, pool.padY, pool.padX);
  check_numbers(window);
  for (std::size_t axis = 0; axis < 2; ++axis)
    require(window.begin[axis] < window.kernel[axis] && window.end[axis] < window.kernel[axis],
            "padding as large as the window");
  return slid(window, source, source.extents[1]);
}

Shape matrix_product(const MNN::MatMulT& product, const Shape& a, const Shape& b) {
  require(a.is_rows() && b.is_rows() && a.extents.size() >= 2 && b.extents.size() >= 2, "a product of no matrices");
  require(product.weight.empty() && product.bias.empty(), "a product with numbers of its own");
  Extents left = a.extents;
  Extents right = b.extents;
  if (product.transposeA) std::swap(left.end()[-1], left.end()[-2]);
  if (product.transposeB) std::swap(right.end()[-1], right.end()[-2]);
  require(left.end()[-1] == right.end()[-2], "a product of matrices that do not fit");
  const std::int64_t rows = left.end()[-2];
  const std::int64_t columns = right.end()[-1];
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Shape result{.extents = broadcast(left, right)};
  result.extents.insert(result.extents.end(), {rows, columns});
  return result;
}

/// Blocks are computed with blocks of the same extents, or with one number.
Shape element_wise(const MNN::BinaryOpT& binary, const Shape& one, const Shape& other) {
  constexpr std::array kKnown = {MNN::BinaryOpOperation_ADD,     MNN::BinaryOpOperation_SUB,
                                 MNN::BinaryOpOperation_MUL,     MNN::BinaryOpOperation_REALDIV,
                                 MNN::BinaryOpOperation_MAXIMUM, MNN::BinaryOpOperation_MINIMUM,
                                 MNN::BinaryOpOperation_POW};
  require(std::ranges::find(kKnown, binary.opType) != kKnown.end() && binary.activationType == 0 &&
              binary.T == MNN::DataType_DT_FLOAT,
          "an operation of two operands that is not one of ours");
  if (one.is_rows() && other.is_rows()) return {.extents = broadcast(one.extents, other.extents)};
  const auto is_number = [](const Shape& shape) { return shape.is_rows() && shape.extents == Extents{1}; };
  if (is_number(one)) return other;
  require(is_number(other) || (one.format == other.format && one.extents == other.extents),
          "blocks with other than such blocks");
  return one;
}

void check_function(const MNN::UnaryOpT& unary) {
  constexpr std::array kKnown = {
      MNN::UnaryOpOperation_ABS,           MNN::UnaryOpOperation_NEG,        MNN::UnaryOpOperation_FLOOR,
      MNN::UnaryOpOperation_CEIL,          MNN::UnaryOpOperation_SQRT,       MNN::UnaryOpOperation_EXP,
      MNN::UnaryOpOperation_LOG,           MNN::UnaryOpOperation_RECIPROCAL, MNN::UnaryOpOperation_ERF,
      MNN::UnaryOpOperation_SIGMOID,       MNN::UnaryOpOperation_TANH,       MNN::UnaryOpOperation_HARDSWISH,
      MNN::UnaryOpOperation_GELU_STANDARD, MNN::UnaryOpOperation_GELU};
  require(std::ranges::find(kKnown, unary.opType) != kKnown.end() && unary.tableInt8.empty(),
          "a function that is not one of ours");
}

Shape reshaped(const MNN::ReshapeT& reshape, const Shape& source) {
  const Shape result{.extents = extents_of(reshape.dims)};
  require(source.is_rows() && reshape.dimType == MNN::MNN_DATA_FORMAT_NCHW, "a view of other than rows");
  check_shape(result);
  require(element_count(result.extents) == element_count(source.extents), "a view of other elements");
  return result;
}

Shape permuted(const MNN::PermuteT& permute, const Shape& source) {
  require(
      source.is_rows() && permute.dims.size() == source.extents.size() && are_axes(permute.dims, source.extents.size()),
      "an order of other axes");
  Shape result;
  for (const std::int32_t axis : permute.dims) result.extents.push_back(source.extents[static_cast<std::size_t>(axis)]);
  return result;
}

/// Of images between rows, blocks and pixels.
Shape converted(const MNN::TensorConvertInfoT& convert, const Shape& source) {
  const auto is_known = [](MNN::MNN_DATA_FORMAT format) {
    return format == MNN::MNN_DATA_FORMAT_NCHW || format == MNN::MNN_DATA_FORMAT_NC4HW4 ||
           format == MNN::MNN_DATA_FORMAT_NHWC;
  };
  require(source.extents.size() == 4 && convert.source == source.format && is_known(convert.dest) &&
              convert.source != convert.dest,
          "a conversion of another order");
  Shape result{.extents = source.extents, .format = convert.dest};
  const auto begin = result.extents.begin();
  if (convert.source == MNN::MNN_DATA_FORMAT_NHWC) std::rotate(begin + 1, begin + 3, begin + 4);
  if (convert.dest == MNN::MNN_DATA_FORMAT_NHWC) std::rotate(begin + 1, begin + 2, begin + 4);
  return result;
}

/// What an operator has as its parameter.
MNN::OpParameter parameter_of(MNN::OpType type) {
  switch (type) {
    case MNN::OpType_Input:
      return MNN::OpParameter_Input;
    case MNN::OpType_Const:
      return MNN::OpParameter_Blob;
    case MNN::OpType_ConvertTensor:
      return MNN::OpParameter_TensorConvertInfo;
    case MNN::OpType_Reshape:
      return MNN::OpParameter_Reshape;
    case MNN::OpType_Permute:
      return MNN::OpParameter_Permute;
    case MNN::OpType_Softmax:
    case MNN::OpType_Concat:
      return MNN::OpParameter_Axis;
    case MNN::OpType_BinaryOp:
      return MNN::OpParameter_BinaryOp;
    case MNN::OpType_UnaryOp:
      return MNN::OpParameter_UnaryOp;
    case MNN::OpType_ReLU:
      return MNN::OpParameter_Relu;
    case MNN::OpType_ReLU6:
      return MNN::OpParameter_Relu6;
    case MNN::OpType_ELU:
      return MNN::OpParameter_ELU;
    case MNN::OpType_MatMul:
      return MNN::OpParameter_MatMul;
    case MNN::OpType_Convolution:
    case MNN::OpType_ConvolutionDepthwise:
    case MNN::OpType_Deconvolution:
    case MNN::OpType_DeconvolutionDepthwise:
      return MNN::OpParameter_Convolution2D;
    case MNN::OpType_Pooling:
      return MNN::OpParameter_Pool;
    default:
      throw std::runtime_error("an operator that is not one of ours");
  }
}

bool has_arity(const MNN::OpT& op) {
  const std::size_t inputs = op.inputIndexes.size();
  switch (op.type) {
    case MNN::OpType_Input:
    case MNN::OpType_Const:
      return inputs == 0;
    case MNN::OpType_BinaryOp:
    case MNN::OpType_MatMul:
      return inputs == 2;
    case MNN::OpType_Concat:
      return inputs >= 1;
    default:
      return inputs == 1;
  }
}

/// Operators in the order in which they run, each with one result: the tensor of its own number.
class Check {
 public:
  Check(const MNN::NetT& net, PortCounts ports) : net_(net), ports_(ports) {}

  void run() {
    require(net_.extraTensorDescribe.empty() && !net_.extraInfo && net_.subgraphs.empty() &&
                net_.usage == MNN::Usage_INFERENCE && net_.mnn_uuid.empty() && net_.bizCode.empty(),
            "a net with more than operators");
    require(net_.tensorName.size() == net_.oplists.size() && std::cmp_equal(net_.tensorNumber, net_.tensorName.size()),
            "tensors that are not those of the operators");
    for (std::size_t at = 0; at < net_.oplists.size(); ++at) {
      require(net_.oplists[at] != nullptr, "an operator that is not there");
      check_head(*net_.oplists[at], at);
      Shape shape = shape_of(*net_.oplists[at], at);
      check_shape(shape);
      shapes_.push_back(std::move(shape));
    }
    require(inputs_ == ports_.inputs && net_.outputName.size() == ports_.outputs, "ports that the net does not have");
    check_outputs();
  }

 private:
  static void check_head(const MNN::OpT& op, std::size_t at) {
    require(op.main.type == parameter_of(op.type) && op.main.value != nullptr, "an operator without its parameter");
    require(op.externalPath.empty() && op.defaultDimentionFormat == MNN::MNN_DATA_FORMAT_NCHW,
            "an operator of other form");
    require(has_arity(op) && op.outputIndexes == std::vector{static_cast<std::int32_t>(at)},
            "an operator of other tensors");
    require(std::ranges::all_of(op.inputIndexes,
                                [&](std::int32_t index) { return index >= 0 && std::cmp_less(index, at); }),
            "a tensor that is read before it is written");
  }

  [[nodiscard]] const Shape& in(const MNN::OpT& op, std::size_t input) const {
    return shapes_[static_cast<std::size_t>(op.inputIndexes[input])];
  }

  Shape shape_of(const MNN::OpT& op, std::size_t at) {
    switch (op.type) {
      case MNN::OpType_Input:
        return input(*op.main.AsInput(), at);
      case MNN::OpType_Const:
        return constant(*op.main.AsBlob());
      case MNN::OpType_ConvertTensor:
        return converted(*op.main.AsTensorConvertInfo(), in(op, 0));
      case MNN::OpType_Reshape:
        return reshaped(*op.main.AsReshape(), in(op, 0));
      case MNN::OpType_Permute:
        return permuted(*op.main.AsPermute(), in(op, 0));
      case MNN::OpType_Softmax:
        require(in(op, 0).is_rows() && has_axis(*op.main.AsAxis(), in(op, 0)), "an axis that is not there");
        return in(op, 0);
      case MNN::OpType_Concat:
        return joined(op);
      case MNN::OpType_BinaryOp:
        return element_wise(*op.main.AsBinaryOp(), in(op, 0), in(op, 1));
      case MNN::OpType_UnaryOp:
        check_function(*op.main.AsUnaryOp());
        return function(in(op, 0));
      case MNN::OpType_ReLU:
      case MNN::OpType_ReLU6:
      case MNN::OpType_ELU:
        return function(in(op, 0));
      case MNN::OpType_MatMul:
        return matrix_product(*op.main.AsMatMul(), in(op, 0), in(op, 1));
      case MNN::OpType_Pooling:
        return pooling(*op.main.AsPool(), in(op, 0));
      default:
        return convolution(op, in(op, 0));
    }
  }

  static Shape function(const Shape& source) {
    require(source.format != MNN::MNN_DATA_FORMAT_NHWC, "a function of pixels");
    return source;
  }

  static bool has_axis(const MNN::AxisT& axis, const Shape& shape) {
    return axis.axis >= 0 && std::cmp_less(axis.axis, shape.extents.size());
  }

  Shape input(const MNN::InputT& input, std::size_t at) {
    require(input.dtype == MNN::DataType_DT_FLOAT &&
                (input.dformat == MNN::MNN_DATA_FORMAT_NCHW || input.dformat == MNN::MNN_DATA_FORMAT_NHWC),
            "an input of other form");
    require(net_.tensorName[at] == input_name(inputs_++), "an input of another name");
    return {.extents = extents_of(input.dims), .format = input.dformat};
  }

  static Shape constant(const MNN::BlobT& blob) {
    require(blob.dataType == MNN::DataType_DT_FLOAT && blob.dataFormat == MNN::MNN_DATA_FORMAT_NCHW &&
                blob.uint8s.empty() && blob.int8s.empty() && blob.int32s.empty() && blob.int64s.empty() &&
                blob.strings.empty() && blob.external.size() <= 1,
            "a constant of other form");
    Shape shape{.extents = extents_of(blob.dims)};
    check_shape(shape);
    require(std::cmp_equal(blob.float32s.size(), blob.external.empty() ? element_count(shape.extents) : 0),
            "a constant of other elements");
    return shape;
  }

  [[nodiscard]] Shape joined(const MNN::OpT& op) const {
    Shape result = in(op, 0);
    require(result.format != MNN::MNN_DATA_FORMAT_NHWC && has_axis(*op.main.AsAxis(), result),
            "an axis that is not there");
    const auto axis = static_cast<std::size_t>(op.main.AsAxis()->axis);
    for (std::size_t i = 1; i < op.inputIndexes.size(); ++i) {
      Shape part = in(op, i);
      require(part.format == result.format && part.extents.size() == result.extents.size(),
              "parts that do not fit each other");
      result.extents[axis] += part.extents[axis];
      part.extents[axis] = result.extents[axis];
      require(part.extents == result.extents, "parts that do not fit each other");
    }
    return result;
  }

  /// Every name is that of one tensor, and outputs are computed.
  void check_outputs() const {
    std::map<std::string_view, MNN::OpType> makers;
    for (std::size_t at = 0; at < net_.tensorName.size(); ++at)
      require(makers.try_emplace(net_.tensorName[at], net_.oplists[at]->type).second, "two tensors of one name");
    for (std::size_t i = 0; i < net_.outputName.size(); ++i) {
      const auto found = makers.find(net_.outputName[i]);
      require(net_.outputName[i] == output_name(i) && found != makers.end(), "an output of another name");
      require(found->second != MNN::OpType_Input && found->second != MNN::OpType_Const,
              "an output that is not computed");
    }
  }

  const MNN::NetT& net_;
  PortCounts ports_;
  std::vector<Shape> shapes_;  ///< by tensor
  std::size_t inputs_ = 0;
};

}  // namespace

void check_net(const MNN::NetT& net, PortCounts ports) { Check(net, ports).run(); }

}  // namespace collage::mnn
