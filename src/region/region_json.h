// The JSON form of a region, for functions outside the program: nodes with their attributes, and the values they join.
// In:  a graph and a region of it. Out: one object, docs/schemas/region.schema.json.
// How: values are named as in the graph. Of structural constants and of tensors in attributes the elements are told, of
//       weights only type and shape (structural_constants()). Numbers that JSON does not have are the texts "nan",
//       "inf" and "-inf".
// Cost: linear in the region and the constants shown.
// Not here: the region inside a pool (pool_json.h).
#pragma once

#include "base/json.h"
#include "region/region.h"

namespace collage {

/// With "schema" "collage.region/1". Of a body graph only that there is one.
[[nodiscard]] Json region_json(const Graph& graph, const Region& region);

}  // namespace collage
