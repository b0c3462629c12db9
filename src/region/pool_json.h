// The JSON form of a pool: how a worker tells what a backend proposed there.
// In: a pool; or its form and the graph it is of. Out: the other; what a region reads and makes comes from the graph.
// Strings are bytes as a backend gave them, not always UTF-8: written as CBOR they come back as they were.
// Cost: in proportion to the pool.
#pragma once

#include "base/json.h"
#include "region/candidates.h"

namespace collage {

[[nodiscard]] Json to_json(const CandidatePool& pool);

/// Throws Json::exception or JsonFault on malformed input, nodes and regions that do not exist among it: call it inside
/// read_json().
[[nodiscard]] CandidatePool pool_from(const Json& json, const Graph& graph, const Uses& uses);

}  // namespace collage
