// Splits a region with several anchors, each of which reads the result of the one before, into stages with one anchor
// each.
// In:  a Site. Out: its stages in order, or why the anchors are no such chain.
// How: the nodes between two anchors are element-wise, have the shape of the first one's result, and are read by no
//       other node of the region.
// Cost: anchors times nodes.
// Source: fused blocks of convolutional networks (Alwani et al., MICRO 2016).
#pragma once

#include <vector>

#include "compiler/analysis/site.h"
#include "compiler/codegen/lowering.h"

namespace collage::native {

struct Stage {
  const Node* anchor = nullptr;
  NodeSet nodes = {};   ///< element-wise work after the anchor
  ValueId result = {};  ///< what the next anchor reads, or the region's output
};

[[nodiscard]] std::expected<std::vector<Stage>, Refusal> stages_of(const Site& site);

/// The stage as if it were the region's only one.
[[nodiscard]] Site site_of(const Site& site, const Stage& stage);

/// The stage's result at a place of a space from its anchor's value there.
[[nodiscard]] Halide::Expr result_of(const Stage& stage, Lowering& lowering, const Space& space, const Indices& at,
                                     const Halide::Expr& anchor_value);

}  // namespace collage::native
