// Operators that compute the same in any dimension order, once their axis attributes are renamed. Internal to this
// folder.
#pragma once

#include <optional>
#include <vector>

#include "passes/editor.h"
#include "passes/facts.h"

namespace collage {

/// How a node takes part in a change of dimension order.
struct LayoutFree {
  std::vector<bool> framed;   ///< by input port: changes order with the node (constants are permuted)
  bool output_framed = true;  ///< false for a reduction whose result is the same in both orders
};

/// Says whether `node` may read its framed inputs as u where input = Transpose(u, perm), giving outputs in the same
/// order; nothing when it may not.
[[nodiscard]] std::optional<LayoutFree> layout_free(const Graph& graph, const Node& node, const Permutation& perm);

/// The node with its axes renamed for that order; its inputs and outputs are left as they are except for small
/// constants (axes, pads, scales) that it owns. Only for nodes that layout_free() accepted.
[[nodiscard]] Node with_renamed_axes(Editor& editor, const Node& node, const Permutation& perm);

}  // namespace collage
