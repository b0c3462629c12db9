// The program of a kernel, as a value: the nodes of a subgraph of XNNPACK, over ports, constants and temporaries.
// In:  made by lowering/ from a region. Out: JSON, which is the artifact; subgraph.h turns it into library objects.
// Cost: a few hundred bytes for a node.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/type.h"

namespace collage::xnnpack {

enum class Role : std::uint8_t { kInput, kOutput, kConstant, kTemporary, kLiteral };

/// A tensor as the library sees it: dense, its axes from the outermost in memory to the innermost.
struct TensorInfo {
  Role role = Role::kTemporary;
  std::uint32_t index = 0;  ///< input port, output port or constant
  Extents extents = {};
  /// f32, i8 or u8; i32 for a bias. Where a port or a constant has the other one of i8 and u8, its bytes are moved by
  /// 128, and so is its zero point.
  ElementType type = ElementType::kFloat32;
  std::vector<float> scales = {};  ///< of integers: one, or one for each index along `channel_axis`
  int channel_axis = -1;           ///< -1 = one scale
  int zero = 0;                    ///< the integer that stands for 0
  /// Of a constant: elements are gathered over these axes, row-major, with these steps in the model's tensor, and then
  /// seen as `extents`. A step of 0 repeats. Empty = the model's elements as they are.
  Extents gathered = {};
  Extents steps = {};
  float scale = 1.F;                       ///< constants of f32 are multiplied by it; the value of a literal
  std::vector<std::int32_t> numbers = {};  ///< the elements of a literal of i32
  bool operator==(const TensorInfo&) const = default;
};

enum class OpKind : std::uint8_t {
  kConvolution,           ///< inputs: source, weights [out, window, in of a group], bias?
  kDepthwiseConvolution,  ///< inputs: source, weights [1, window, out], bias?
  kDeconvolution,         ///< inputs: source, weights [out, window, in of a group], bias?
  kFullyConnected,        ///< inputs: source, weights [out, in], or [in, out] when transposed, bias?
  kBatchMatMul,           ///< inputs: a, b; b is seen with its last two axes swapped when transposed
  kMaxPooling,
  kAveragePooling,  ///< padding is not counted
  kReduction,       ///< over `axes`, which stay with extent 1 when `keeps_axes`; algorithm "sum" or "mean"
  kUnary,           ///< algorithm: "clamp", "abs"..., "convert" between real numbers and integers
  kBinary,          ///< inputs: a, b; algorithm: "add", "multiply"...
  kSoftmax,         ///< over the innermost axis
  kTranspose,       ///< `axes` is the order of the source's axes
  kReshape,
  kConcat,  ///< along axes[0]
  kPad,     ///< `begin` and `end` for every axis, filled with `alpha`
  kResize   ///< bilinear; algorithm "half_pixel", "align_corners" or "asymmetric"
};

/// One node. Windows have two axes: height and width.
struct Op {
  OpKind kind = OpKind::kUnary;
  std::string algorithm = {};
  std::vector<int> inputs = {};  ///< tensors
  int output = -1;
  Extents kernel = {}, strides = {}, dilations = {}, begin = {}, end = {};
  Extents adjustment = {};  ///< of a deconvolution: pixels at the end that no window reaches
  std::int64_t groups = 1;
  Extents axes = {};
  bool transposed = false;
  bool keeps_axes = false;
  float alpha = 0.F;
  float least = -std::numeric_limits<float>::infinity();  ///< the output is limited to least..most
  float most = std::numeric_limits<float>::infinity();
  bool operator==(const Op&) const = default;
};

struct Program {
  std::vector<TensorInfo> tensors;
  std::vector<Op> ops;
  /// Each constant is the bytes of one tensor as the library reads them (constants.h), not a constant of the model.
  bool is_prepared = false;
  bool operator==(const Program&) const = default;
};

/// Whether bytes of one type are those of the other one moved by 128.
[[nodiscard]] inline bool is_flipped(ElementType one, ElementType other) {
  return (one == ElementType::kInt8 && other == ElementType::kUint8) ||
         (one == ElementType::kUint8 && other == ElementType::kInt8);
}

[[nodiscard]] std::string to_json(const Program& program);
/// Error backend/bad-artifact.
[[nodiscard]] std::unexpected<Error> bad_artifact(std::string saw);
/// Error backend/bad-artifact for text that is no program.
[[nodiscard]] Result<Program> parse_program(std::string_view json);

}  // namespace collage::xnnpack
