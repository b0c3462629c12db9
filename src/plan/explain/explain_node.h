// Prints one node of an explanation: as lines of text and as an object of docs/schemas/explain.schema.json.
// In:  an explanation, a node of it. Out: text, JSON. At most kMostNames names of a region's nodes are shown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace collage {

/// The explanation of a plan; error plan/no-explanation without one.
[[nodiscard]] Result<Explanation> explanation_in(const Plan& plan);

/// "lib/direct on 2 nodes, 12.3 us".
[[nodiscard]] std::string describe(const ExplainedCandidate& candidate);
/// "put in its place the cover costs 4.2 us more", "" when nothing is known.
[[nodiscard]] std::string describe_margin(const ExplainedCandidate& candidate);
[[nodiscard]] std::string describe(const ExplainedRefusal& refusal);
/// "--pin conv*=lib".
[[nodiscard]] std::string describe(const ExplainedRule& rule);

/// "the budget ran out before its turn", "" when it is not known.
[[nodiscard]] std::string_view describe(Unmeasured why);

[[nodiscard]] std::string node_as_text(const Explanation& explanation, const ExplainedNode& node);
[[nodiscard]] nlohmann::ordered_json node_as_json(const Explanation& explanation, const ExplainedNode& node);

}  // namespace collage
