// Shapes in plan.json: a list of extents; an open one is its symbol, or null without one. Internal to src/plan/file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/json.h"
#include "ir/type.h"

namespace collage {

/// Throws JsonFault.
inline Shape read_shape(const Json& entries, const std::string& where) {
  Shape shape;
  std::int64_t elements = 1;
  for (const Json& entry : entries) {
    Dim dim;
    if (entry.is_string()) {
      dim.symbol = entry.get<std::string>();
    } else if (entry.is_number_unsigned() && std::in_range<std::int64_t>(entry.get<std::uint64_t>())) {
      dim.extent = entry.get<std::int64_t>();
      // Sizes computed from extents later must not overflow: 2^56 elements of at most 16 bytes do not.
      constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;
      if (dim.extent != 0 && elements > kMaxElements / dim.extent) throw JsonFault{where, "a shape beyond all memory"};
      if (dim.extent != 0) elements *= dim.extent;
    } else if (!entry.is_null()) {
      throw JsonFault{where, "extent " + entry.dump()};
    }
    shape.push_back(std::move(dim));
  }
  return shape;
}

/// What read_shape reads.
inline Json shape_to_json(const Shape& shape) {
  Json list = Json::array();
  for (const Dim& dim : shape) {
    if (dim.is_static()) {
      list.push_back(dim.extent);
    } else {
      list.push_back(dim.symbol.empty() ? Json(nullptr) : Json(dim.symbol));
    }
  }
  return list;
}

}  // namespace collage
