// The element-wise operators as expressions of one element.
// In:  a node and its operands at one position, already broadcast. Out: the node's result there.
// How: every function consists of operations with vector instructions; none becomes a call of the C library.
// Cost: the arithmetic.
// Source: ONNX operator specifications; rational and polynomial approximations of Cephes' single precision functions
//       (S. Moshier), with a relative error below 3e-7.
#pragma once

#include <Halide.h>

#include <string>
#include <string_view>
#include <vector>

#include "compiler/expressions/quantise.h"
#include "ir/graph.h"

namespace collage::native {

/// Halide's type of the elements as they are computed with; bool is one bit. Precondition: is_computable(type).
[[nodiscard]] Halide::Type computed_type(ElementType type);
/// Halide's type of the elements in memory; bool is a byte.
[[nodiscard]] Halide::Type stored_type(ElementType type);
/// How closely an expression keeps to its operator.
struct Rounding {
  Quotient quotient = Quotient::kExact;
  bool has_16_bits = false;  ///< the kernel rounds to 16 bits anyway: functions may err by some 1e-5 of their range
};

/// f32, f64, integers and bool.
[[nodiscard]] bool is_computable(ElementType type);

/// Whether element_expression() supports the operator in this form; examines the node's types and attributes.
[[nodiscard]] bool is_element_node(const Graph& graph, const Node& node);

/// What is_element_node() knows in some form, sorted.
[[nodiscard]] std::vector<std::string> element_operators();

/// The node's one output at a place. An omitted operand is an undefined Expr.
/// Precondition: is_element_node().
[[nodiscard]] Halide::Expr element_expression(const Graph& graph, const Node& node,
                                              const std::vector<Halide::Expr>& operands, const Rounding& rounding = {});

}  // namespace collage::native
