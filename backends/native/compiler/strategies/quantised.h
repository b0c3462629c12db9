// Shared by the implementations of convolutions and products of 8-bit integers.
// In:  a region with QLinearConv, QLinearMatMul, ConvInteger or MatMulInteger, or with Conv, MatMul or Gemm after
//       DequantizeLinear of both factors or of the weights only. Out: a common form for all of them; builders for the
//       tables in quantised.cpp.
//   result = sum over the reduction of (source - source zero) * (weights - weights zero)        kInteger
//          = sum * source scale * weights scale * alpha + beta * bias                           kReal
//          = that / result scale, rounded, + result zero                                        kQuantised
// Cost: examines a few nodes.
// Source: ONNX operator specifications; integer-only inference of Jacob et al., CVPR 2018.
#pragma once

#include "compiler/products/dense.h"

namespace collage::native {

enum class SumResult : std::uint8_t { kInteger, kReal, kQuantised };

/// Absent values: no zero point is 0, no bias is none.
struct Quantised {
  Dense dense;                  ///< source and weights are bytes; its bias is a real one
  bool is_source_real = false;  ///< f32, without scale and zero point; then the weights' zero points are 0
  SumResult result = SumResult::kInteger;
  ValueId source_zero = {};
  ValueId weight_zero = {};  ///< of all weights, or of each output
  ValueId source_scale = {};
  ValueId weight_scale = {};  ///< of all weights, or of each output
  ValueId result_scale = {};
  ValueId result_zero = {};
  ValueId steps = {};        ///< i32 bias of each output
  ValueId steps_scale = {};  ///< of one step of the bias, when not the product of the others' scales
};

/// Constant weights, numbers for whole tensors, or for each output of the weights.
[[nodiscard]] std::expected<Quantised, Refusal> quantised_convolution_of(const Site& site);
[[nodiscard]] std::expected<Quantised, Refusal> quantised_product_of(const Site& site);

/// Numbers of a Quantised inside tensor code.
class QuantisedCode {
 public:
  QuantisedCode(const Quantised& quantised, const Site& site, Lowering& lowering)
      : quantised_(quantised), site_(site), lowering_(lowering) {}

  /// A number of the whole tensor; 0 when absent.
  [[nodiscard]] Halide::Expr whole(ValueId id);
  /// A number of output `c`, which may lie past the last one; 0 when absent.
  [[nodiscard]] Halide::Expr by_output(ValueId id, const Halide::Expr& c);
  /// The anchor's value at a place from its integer sum there.
  [[nodiscard]] Halide::Expr result(const Indices& at, const Halide::Expr& sum);

 private:
  /// `value(c)`, computed once for all outputs when it is more than a number.
  [[nodiscard]] Halide::Expr table(const std::string& name, const Halide::Expr& c,
                                   Halide::Expr (QuantisedCode::*value)(const Halide::Expr& c));
  [[nodiscard]] Halide::Expr scale(const Halide::Expr& c);
  [[nodiscard]] Halide::Expr real_steps(const Halide::Expr& c);

  const Quantised& quantised_;
  const Site& site_;
  Lowering& lowering_;
};

/// Neighbouring channels that are multiplied in one lane of 32 bits.
[[nodiscard]] inline std::int64_t bytes_of_lane(const Site& site) { return site.set.has_dot_i8 ? 4 : 2; }
/// Four products in one instruction where there is such; weights in quads.
[[nodiscard]] std::vector<Schedule> quads_space(const Quantised& quantised, const Site& site);
void build_quads(const Quantised& quantised, const Site& site, const Schedule& schedule, Lowering& lowering);

/// Depthwise in f32, which is exact for windows of up to 256 places.
void build_quantised_depthwise(const Quantised& quantised, const Site& site, const Schedule& schedule,
                               Lowering& lowering);
/// A real source by weights of bytes, scaled behind the sum.
void build_scaled(const Quantised& quantised, const Site& site, const Schedule& schedule, Lowering& lowering);

}  // namespace collage::native
