// Translates a region to a net of MNN: one or two operators for each node.
// In:  a graph and a region. Out: a net without the contents of constants, and what decides how it can be computed; or
//       why this backend does not support the region.
// Cost: one pass over the region's nodes. Calls nothing of the library's own code: its schema is headers only.
// Source: MNN 3.3.0, its schema and the shape functions of its operators.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backends/mnn/net_writer.h"

namespace collage::mnn {

/// What decides in which ways a net can be computed, and in which accuracy class.
struct NetFacts {
  bool convolves = false;     ///< has a convolution of either direction, or a product that is one
  bool of_one = false;        ///< one of one pixel: by Strassen's method
  bool of_three = false;      ///< one of 3x3 pixels: by Winograd's method
  bool of_other = false;      ///< one of another square: by Winograd's method, whose error grows with the square
  bool has_blocks = false;    ///< a convolution or pooling of images, computed in blocks of channels
  bool approximates = false;  ///< has an operator that errs by more than class strict allows
};

struct Lowered {
  std::string net;                 ///< the bytes of a flatbuffer
  std::vector<ValueId> constants;  ///< by the numbers that the net's operators have in `external`
  NetFacts facts;
};

/// The ports of `ports` are plain or channels_last; its name is ignored.
[[nodiscard]] std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Variant& ports);

/// What the functions for single nodes share.
struct Lowering {
  const Graph& graph;
  const Region& region;
  NetWriter net;
  NetFacts facts = {};

  [[nodiscard]] Extents extents(ValueId id) const { return graph.value(id).type.extents(); }
  /// Whether one node of the region reads the value, and nothing else does.
  [[nodiscard]] bool is_read_once(ValueId id) const;
};

using Done = std::expected<void, Refusal>;

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

/// Each adds one node to the net.
[[nodiscard]] Done lower_convolution(Lowering& lowering, const Node& node);
[[nodiscard]] Done lower_deconvolution(Lowering& lowering, const Node& node);
[[nodiscard]] Done lower_pooling(Lowering& lowering, const Node& node);
[[nodiscard]] Done lower_product(Lowering& lowering, const Node& node);
[[nodiscard]] Done lower_unary(Lowering& lowering, const Node& node);
[[nodiscard]] Done lower_binary(Lowering& lowering, const Node& node);

/// Operators of lower_unary() and lower_binary(), as the alternatives of a pattern.
[[nodiscard]] const std::string& unary_operators();
[[nodiscard]] const std::string& binary_operators();

}  // namespace collage::mnn
