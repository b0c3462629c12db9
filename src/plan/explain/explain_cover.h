// The whole of an explanation, spelled out: how good the cover is, and what the next best covers do otherwise.
// In: an explanation. Out: lines for people, objects of docs/schemas/explain.schema.json.
// Not here: single nodes (plan/explain_node.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plan/explain/explanation.h"

namespace collage {

[[nodiscard]] nlohmann::ordered_json gaps_as_json(const Explanation& explanation);
[[nodiscard]] nlohmann::ordered_json losses_as_json(const Explanation& explanation);
[[nodiscard]] nlohmann::ordered_json alternatives_as_json(const Explanation& explanation);

/// Gaps and losses.
[[nodiscard]] std::string totals_as_text(const Explanation& explanation);
/// A line for each alternative; why there are none; "" when the explanation is not about a cover.
[[nodiscard]] std::string alternatives_as_text(const Explanation& explanation);

}  // namespace collage
