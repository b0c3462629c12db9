// A region as strategies see it: its anchor, the element-wise nodes before and after it, and facts on which decisions
// are based.
// In:  a graph and a region. Out: a Site, or why no kernel can be made for the region.
// How: the anchor is one heavy operator, written as one node or as several (composite.h), or a few in a chain. The
//       nodes before, between and after anchors are element-wise.
// Example: for x -> Relu -> Conv -> Add -> Clip the anchor is Conv, `before` holds Relu, `after` holds Add and Clip.
// Cost: linear in the region.
// Source: anchors and epilogues of operator fusion in tensor compilers (Chen et al., OSDI 2018).
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "compiler/analysis/space.h"
#include "instruction_set.h"

namespace collage::native {

/// Numbers of a region that conditions and schedules speak of: "kernel_h", "channels".
using Facts = std::map<std::string, std::int64_t, std::less<>>;

struct Composite;
struct Family;

struct Site {
  const Graph& graph;
  const Region& region;
  const CompileOptions& options;
  const InstructionSet& set;
  const Node* anchor = nullptr;           ///< the last one; null: element-wise work and moves of elements only
  std::vector<const Node*> anchors = {};  ///< all of them, in order
  bool moves = false;                     ///< some node moves elements
  std::shared_ptr<const Composite> composite = nullptr;  ///< holds the anchor where several nodes spell it
  NodeSet before = {};                                   ///< element-wise nodes that the anchor waits for
  NodeSet after = {};                            ///< element-wise nodes that wait for the anchor, or stand beside it
  std::span<const Family* const> families = {};  ///< that may take it; none = the built-in ones
  bool is_open = false;                          ///< extents are those of a point; code is for more of them

  [[nodiscard]] const ValueType& type(ValueId id) const { return graph.value(id).type; }
  [[nodiscard]] Extents extents(ValueId id) const { return type(id).extents(); }
  [[nodiscard]] ValueId result() const { return anchor->outputs[0]; }
  /// f32 numbers in one vector register.
  [[nodiscard]] std::int64_t lanes() const { return set.vector_bytes / 4; }
};

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

/// Static borders of computable types, no empty tensors, at most three nodes that are not element-wise.
[[nodiscard]] std::expected<Site, Refusal> dissect(const Graph& graph, const Region& region,
                                                   const CompileOptions& options, const InstructionSet& set);

/// Operators of the anchors, joined by '+': what families are looked up by.
[[nodiscard]] std::string anchors_text(const Site& site);
/// Nodes of the region that `node` waits for.
[[nodiscard]] NodeSet makers_of(const Site& site, const Node& node);

/// The epilogue is computable in the shape of the anchor's result, and is all that leaves the region.
[[nodiscard]] std::expected<void, Refusal> check_epilogue(const Site& site);
/// Every value that these nodes read can be seen along the axes; computed ones that can lie in `format` do.
[[nodiscard]] bool are_seen(const Site& site, const NodeSet& nodes, const Space& space, const Format& format);
/// No node precedes the anchor.
[[nodiscard]] std::expected<void, Refusal> check_no_prologue(const Site& site);

/// The 16-bit type in which ports and weights may be stored here; nothing where shapes are open.
[[nodiscard]] std::optional<ElementType> narrow_element_of(const Site& site);

/// `axis` counted from the front.
[[nodiscard]] inline std::int64_t from_front(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

}  // namespace collage::native
