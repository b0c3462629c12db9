// The `--shape` arguments: extents that the user gives to open dimensions, parsed but not yet applied to a model.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace collage {

/// Name of an input or of a dimension -> what was written after the last '=': "1x3x224x224", "8", "" (a scalar), or
/// "1..8", a range of one dimension (ir/shape_domain.h). An input's name wins over a dimension's of the same name.
struct ShapeBindings {
  std::map<std::string, std::string> entries;
  bool operator==(const ShapeBindings&) const = default;
};

/// Whether an entry's text is a range, "A..B".
[[nodiscard]] bool is_range(const std::string& text);

/// Reads arguments like "x=1x3x224x224", "batch=8", "scalar=", "batch=1..8". 0 is a legal extent.
/// Errors (usage): shape/malformed, shape/twice, shape/empty-range for "8..1".
[[nodiscard]] Result<ShapeBindings> parse_shape_bindings(std::span<const std::string> arguments);

/// The extents written in one entry; empty for "". Error shape/malformed; shape/range (usage) for a range, which
/// only functions that take a domain of shapes accept.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_extents(const std::string& name, const std::string& text);

/// One extent, nothing else. Error shape/malformed.
[[nodiscard]] Result<std::int64_t> parse_extent(const std::string& name, const std::string& text);

}  // namespace collage
