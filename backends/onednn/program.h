// The program of a kernel, as a value: a sequence of a few library operations over ports, constants and scratch.
// In:  made by lower.h from a region. Out: JSON, which is the artifact; primitives.h turns it into library objects.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ir/type.h"
#include "layout.h"

namespace collage::onednn {

enum class Role : std::uint8_t { kInput, kOutput, kConstant, kTemporary, kLiteral };

/// A tensor as one operation sees it. Several may stand for the same port with different extents.
struct TensorInfo {
  Role role = Role::kTemporary;
  std::uint32_t index = 0;                   ///< input port, output port, constant or temporary
  ElementType type = ElementType::kFloat32;  ///< of the elements as stored; bf16 stands for an f32 value
  Extents extents = {};                      ///< in the library's logical order
  Extents strides = {};                      ///< in elements; empty = dense. Of a constant: how the model's bytes lie
  Layout layout = Layout::kPlain;  ///< how operations want it, when `strides` does not say; constants are packed to it
  std::int64_t offset = 0;         ///< where it begins in the port or temporary, in elements
  /// Of a constant whose axes are more than `extents` says: its own axes, over which `strides` run, gathered row-major
  /// and then seen as `extents`. Empty = the extents. A stride may be 0, which repeats.
  Extents stored = {};
  /// Two of the stored axes: elements where their indices differ are 0. Empty = all elements are read.
  Extents diagonal = {};
  /// Of a literal matrix that interpolates: row r weighs the two columns around positions[r].
  std::vector<float> positions = {};
  float scale = 1.F;                ///< constants of f32 are multiplied by it at load; the value of a literal
  std::vector<float> numbers = {};  ///< of a literal with several elements: those, in the order of `extents`
  int split_axis = -1;  ///< of weights that are split (primitives/split.h): the axis that is 3 times as long
  bool operator==(const TensorInfo&) const = default;
};

/// One operation applied to the running result. `algorithm` is the library's name without its kind: "relu", "add".
struct PostOp {
  enum class Kind : std::uint8_t { kEltwise, kBinary, kSum, kPrelu, kDepthwise };
  Kind kind = Kind::kEltwise;
  std::string algorithm = {};
  float alpha = 0.F;
  float beta = 0.F;
  int tensor = -1;  ///< the other operand; the weights of a depthwise convolution
  int second = -1;  ///< the bias of a depthwise convolution
  int kernel = 0;   ///< of a depthwise convolution, with stride and left padding
  int stride = 0;
  int padding = 0;
  bool operator==(const PostOp&) const = default;
};

enum class OpKind : std::uint8_t {
  kConvolution,    ///< inputs: source, weights, bias?
  kDeconvolution,  ///< inputs: source, weights, bias?
  kMatMul,         ///< inputs: a, b, bias?
  kInnerProduct,   ///< inputs: source, weights, bias?
  kPooling,
  kEltwise,
  kBinary,  ///< inputs: a, b
  kPrelu,   ///< inputs: source, slope
  kConcat,
  kResampling,
  kSoftmax,
  kLayerNorm,  ///< inputs: source, scale, shift?
  kBatchNorm,  ///< inputs: source, scale, shift, mean, variance
  kReduction,
  kLrn,
  kReorder,  ///< inputs: source
  kSplit     ///< inputs: rows of f32; the output has rows of bf16, 3 times as long (primitives/split.h)
};

/// What the integers of a product stand for, as tensors: (integer - zero) * scale. -1 = 0, or 1.
struct Scaling {
  int source = -1, source_zero = -1;
  int weights = -1, weights_zero = -1;  ///< scales of all weights, or of each output
  int result = -1, result_zero = -1;
  bool operator==(const Scaling&) const = default;
};

struct Op {
  OpKind kind = OpKind::kReorder;
  std::string algorithm = {};    ///< where the kind has several: "max", "avg_include_padding", "relu", "add", "log"
  std::vector<int> inputs = {};  ///< tensors
  int output = -1;
  Extents kernel = {}, strides = {}, dilations = {}, begin = {}, end = {};  ///< of a window; dilations count from 0
  int axis = 0;
  float alpha = 0.F;  ///< eltwise, lrn; p of a norm
  float beta = 0.F;
  float epsilon = 0.F;  ///< of a normalisation or norm; k of lrn
  std::vector<PostOp> post = {};
  std::string family = {};          ///< which implementations will do: "" any, else as family_of says
  std::string implementation = {};  ///< the library's own name of the one chosen; empty before realise()
  Scaling scaling = {};             ///< of convolutions and products; version 3 of the library
  bool only_if_apart = false;       ///< reorder: nothing to do when both ends are the same memory
  bool operator==(const Op&) const = default;
};

struct Program {
  std::vector<TensorInfo> tensors;
  std::vector<Op> ops;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;  ///< (output, input) ports
  /// The constants are packed, one for each pair of tensor and layout that the operations ask for, in that order.
  bool is_prepared = false;
  bool operator==(const Program&) const = default;
};

/// The element type of the value that a tensor stores: a model's constants have it until they are packed, except that
/// where i8 is wanted they may be u8, each 128 larger.
[[nodiscard]] ElementType value_type(const TensorInfo& tensor);

/// Whether its elements lie one after another in the order of its layout.
[[nodiscard]] bool is_dense(const TensorInfo& tensor);
/// The axis along which the elements of a dense tensor follow one another: the channels in channels_last, else the
/// last.
[[nodiscard]] std::size_t row_axis(const TensorInfo& tensor);
/// The extents of a constant before its weights are split.
[[nodiscard]] Extents unsplit_extents(const TensorInfo& tensor);

/// The first post-op as an operation from `source` to `output`, the rest as its post-ops. The first is no sum and no
/// depthwise convolution.
[[nodiscard]] Op operation_of(const std::vector<PostOp>& posts, int source, int output);

[[nodiscard]] std::string to_json(const Program& program, int threads);
struct StoredProgram {
  Program program;
  int threads = 1;
};
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredProgram> parse_program(std::string_view json);

}  // namespace collage::onednn
