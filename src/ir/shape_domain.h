// The domain of shapes for which a plan with open dimensions is made: a range of extents for each open dimension.
// In:  `--shape` arguments with ranges and the types of a graph's inputs. Out: the domain; for inputs of given extents,
//       the point of the domain that they correspond to. A point holds one extent for each dimension, in the domain's
//       order.
// Cost: linear in the number of dimensions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/shape_bindings.h"
#include "ir/type.h"

namespace collage {

/// The extents that one named dimension may have, both ends included.
struct DimensionRange {
  std::string name;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool operator==(const DimensionRange&) const = default;
};

struct ShapeDomain {
  std::vector<DimensionRange> dimensions;  ///< sorted by name, each once
  bool operator==(const ShapeDomain&) const = default;
};

using ShapePoint = std::vector<std::int64_t>;

/// "1..8". Errors (usage): shape/malformed, shape/empty-range when the end comes before the start.
[[nodiscard]] Result<DimensionRange> parse_range(const std::string& name, const std::string& text);

/// The ranges among the bindings; no dimensions when there is none. Errors of parse_range.
[[nodiscard]] Result<ShapeDomain> domain_of(const ShapeBindings& bindings);

/// The bindings with the extents of a point in place of the ranges; without a point without the ranges.
[[nodiscard]] ShapeBindings bindings_at(const ShapeBindings& bindings, const ShapeDomain& domain,
                                        const ShapePoint& point);
[[nodiscard]] ShapeBindings without_ranges(const ShapeBindings& bindings);

[[nodiscard]] bool contains(const ShapeDomain& domain, const ShapePoint& point);

/// "batch=1..8, seq=16..128" and "batch=4, seq=64".
[[nodiscard]] std::string to_string(const ShapeDomain& domain);
[[nodiscard]] std::string to_string(const ShapeDomain& domain, const ShapePoint& point);

/// The extents by name as a point. Errors: shape/unknown-dimension (usage) for a name that the domain does not have;
/// shape/unbound for a dimension without an extent and shape/outside for a point that is not in the domain (bad input).
[[nodiscard]] Result<ShapePoint> point_of(const ShapeDomain& domain,
                                          const std::map<std::string, std::int64_t>& extents);

/// Error shape/no-input (usage) for a dimension that no input has: its extent could not be determined from the inputs.
[[nodiscard]] Result<void> check_inputs_tell(const ShapeDomain& domain, std::span<const ValueType> inputs);

/// Writes to `extents` the extents of the domain's dimensions that follow from an input of these extents. Errors:
/// input/wrong-shape when it does not fit its type, or gives a dimension another extent than one before.
[[nodiscard]] Result<void> read_extents(const ShapeDomain& domain, const std::string& name, const ValueType& type,
                                        const Extents& seen, std::map<std::string, std::int64_t>& extents);

/// A type with the point's extents in place of the domain's dimensions.
[[nodiscard]] ValueType type_at(const ShapeDomain& domain, const ShapePoint& point, ValueType type);

}  // namespace collage
