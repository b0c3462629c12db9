// QuantizeLinear and DequantizeLinear, for a whole tensor or along an axis, as expressions of one element.
// In:  a node and its operands at one position. Out: its result there.
// How: sums with zero points are exact in f32, so clamping to the type's range before the conversion saturates
//       correctly.
// Cost: a division for each element where the quotient must equal the reference's to the last bit, else a
//       multiplication.
// Source: ONNX QuantizeLinear and DequantizeLinear. Blocks, 4-bit types and 8-bit floats are not supported.
#pragma once

#include <Halide.h>

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace collage::native {

/// How a quantiser divides by its scale. Behind sums, whose order is free, a value near the middle between two steps
/// may go either way anyhow.
enum class Quotient : std::uint8_t {
  kExact,  ///< rounded as the reference rounds it
  kNear    ///< times the reciprocal
};

/// Whether `x` -> result is a quantiser these functions know; examines types and attributes.
[[nodiscard]] bool is_quantiser(const Graph& graph, const Node& node);

/// The axis of the node's result along which a vector operand lies, for operands that are not aligned at the last axis:
/// the scales and zero points of channels. Nothing for every other operand of every node.
[[nodiscard]] std::optional<std::size_t> operand_axis(const Graph& graph, const Node& node, std::size_t operand);
/// Extents of an operand as they broadcast to the node's result.
[[nodiscard]] Extents operand_extents(const Graph& graph, const Node& node, std::size_t operand);

/// Operands of is_quantiser() nodes at one place; the zero point may be undefined.
[[nodiscard]] Halide::Expr quantised(const Halide::Expr& x, const Halide::Expr& scale, const Halide::Expr& zero_point,
                                     ElementType to, Quotient quotient);
[[nodiscard]] Halide::Expr dequantised(const Halide::Expr& x, const Halide::Expr& scale,
                                       const Halide::Expr& zero_point);

/// a / b, rounded as the reference rounds it: Halide would multiply by the reciprocal of a constant.
[[nodiscard]] Halide::Expr exact_quotient(const Halide::Expr& a, const Halide::Expr& b);

/// The nearest whole number, halves to the even one, plus the zero point, within the type's range.
[[nodiscard]] Halide::Expr rounded_to(const Halide::Expr& steps, const Halide::Expr& zero_point, ElementType to);

}  // namespace collage::native
