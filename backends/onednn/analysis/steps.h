// Analyses consecutive element-wise nodes as a chain of steps on one tensor, which the library fuses as post-ops.
// In:  a graph, a region, the value to start at. Out: the steps in order, or why the nodes are no such chain.
// How: follows the one value that is being computed; a value that is read twice must be part of a known activation (x *
//       sigmoid(x)).
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "program.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::onednn {

/// One step; `operand` is valid for binary (a constant or an input of the region) and prelu (a constant).
struct Step {
  PostOp::Kind kind = PostOp::Kind::kEltwise;
  std::string algorithm;
  float alpha = 0.F;
  float beta = 0.F;
  ValueId operand = {};
  bool operator==(const Step&) const = default;
};

struct Chain {
  std::vector<Step> steps;
  ValueId result;
};

/// Follows the chain from `start` over the nodes in `left`, erasing those it takes. Ends where nothing in `left` reads
/// the running value.
[[nodiscard]] std::expected<Chain, Refusal> read_chain(const Graph& graph, const Region& region, ValueId start,
                                                       NodeSet& left);

/// Operators that can be a step; the alternatives of a pattern entry.
[[nodiscard]] const std::string& step_operators();
/// Whether the node can be a step at all.
[[nodiscard]] bool is_step_operator(const Node& node);

/// The extents of an operand against a result of rank `rank`, with 1s in front.
[[nodiscard]] Extents aligned(const Extents& extents, std::size_t rank);

}  // namespace collage::onednn
