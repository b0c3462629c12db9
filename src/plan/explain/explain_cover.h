// The part of an explanation that concerns the whole cover: how good it is, and how the next best covers differ.
// In:  an explanation. Out: lines of text; objects of docs/schemas/explain.schema.json.
// Not here: single nodes (plan/explain/explain_node.h).
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
