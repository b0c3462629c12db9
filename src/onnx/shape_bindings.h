// What the user says about open dimensions: `--shape` arguments, read but not yet applied to a model.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace collage {

/// Name of an input or of a dimension -> what was written after the last '=': "1x3x224x224", "8", or "" (a scalar).
/// An input's name wins over a dimension's of the same name.
struct ShapeBindings {
  std::map<std::string, std::string> entries;
  bool operator==(const ShapeBindings&) const = default;
};

/// Reads arguments like "x=1x3x224x224", "batch=8", "scalar=". 0 is a legal extent.
/// Errors: shape/malformed, shape/twice (usage); shape/range for "A..B" (unsupported).
[[nodiscard]] Result<ShapeBindings> parse_shape_bindings(std::span<const std::string> arguments);

/// The extents written in one entry; empty for "". Error shape/malformed or shape/range.
[[nodiscard]] Result<std::vector<std::int64_t>> parse_extents(const std::string& name, const std::string& text);

}  // namespace collage
