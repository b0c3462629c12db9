// The JSON form of refusals, costs and variants, used between supervisor and worker and in the cost store.
#pragma once

#include "base/json.h"
#include "region/cost.h"
#include "region/refusal.h"
#include "region/variant.h"

namespace collage {

[[nodiscard]] Json to_json(const Refusal& refusal);
[[nodiscard]] Json to_json(const Cost& cost);
[[nodiscard]] Json to_json(const Variant& variant);

// These throw Json::exception on malformed input: call them inside read_json().
[[nodiscard]] Refusal refusal_from(const Json& json);
[[nodiscard]] Cost cost_from(const Json& json);
[[nodiscard]] Variant variant_from(const Json& json);

}  // namespace collage
