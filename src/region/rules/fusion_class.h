// The fusion class of each operator (element-wise, broadcast, reduction, anchor, ...), in one table.
// In:  a node. Out: its class. The class of a region is the greatest among its nodes. Cost: one look-up.
// Source: OpPatternKind of TVM's operator fusion. Unknown operators are opaque, yet can be covered like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "region/region.h"

namespace collage {

enum class FusionClass : std::uint8_t {
  kElementwise,  ///< one input element to one output element
  kBroadcast,    ///< the same with broadcasting
  kInjective,    ///< every output element is some input element
  kReduce,       ///< commutative reduction
  kAnchor,       ///< heavy operator whose output takes element-wise work along
  kOpaque        ///< fused with nothing
};
[[nodiscard]] std::string_view name_of(FusionClass fusion_class);

[[nodiscard]] std::optional<FusionClass> fusion_class_named(std::string_view name);

[[nodiscard]] FusionClass fusion_class_of(const Node& node);
/// Elementwise for the empty set.
[[nodiscard]] FusionClass fusion_class_of(const Graph& graph, const NodeSet& nodes);

/// Cheap enough to compute twice, and the same result each time: element-wise work and moves of elements, with one
/// output and no body.
[[nodiscard]] bool can_be_repeated(const Node& node);

/// "Relu", "com.microsoft::FusedConv".
[[nodiscard]] std::string qualified_name(const Node& node);

}  // namespace collage
