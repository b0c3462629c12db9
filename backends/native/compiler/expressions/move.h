// Operators that move elements, as index mappings: a read of the result becomes a read of the input, without a copy.
// In:  a node, a position in its output. Out: an expression that reads its inputs.
// How: positions are in ONNX axes; a chain of moves and element-wise operators becomes one expression.
// Cost: the index arithmetic that does not simplify away.
// Source: ONNX operator specifications; the access maps of polyhedral compilers.
#pragma once

#include "compiler/analysis/site.h"
#include "compiler/codegen/lowering.h"

namespace collage::native {

/// Whether the node moves elements in a way this file knows; amounts must be constants. Resize is among them.
[[nodiscard]] bool is_move_node(const Graph& graph, const Node& node);

/// What is_move_node() knows in some form.
[[nodiscard]] std::vector<std::string> move_operators();

/// The greatest length that divides every part of each Concat of the region along this axis of a value's shape; 0 when
/// there is none.
[[nodiscard]] std::int64_t common_part(const Site& site, ValueId value, std::size_t axis);

/// Values of a region without anchor by place.
class Places {
 public:
  explicit Places(Lowering& lowering) : lowering_(lowering) {}
  /// The element at ONNX indices `at`; as computed: bool is one bit.
  Halide::Expr value(ValueId id, const Indices& at);

 private:
  Halide::Expr made(ValueId id, const Indices& at);
  Halide::Expr moved(const Node& node, std::size_t output, const Indices& at);
  Halide::Expr concatenated(const Node& node, const Indices& at);
  Halide::Expr padded(const Node& node, const Indices& at);
  Halide::Expr gathered(const Node& node, const Indices& at);
  Halide::Expr resized(const Node& node, const Indices& at);
  Halide::Expr element(const Node& node, const Indices& at);
  [[nodiscard]] Extents extents(ValueId id) const { return lowering_.graph().value(id).type.extents(); }

  Lowering& lowering_;
};

}  // namespace collage::native
