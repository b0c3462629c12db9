// One node of an explanation, spelled out: as lines for people and as an object of docs/schemas/explain.schema.json.
// In: an explanation, a node of it. Out: text, JSON. Names of a region's nodes are cut after kMostNames.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "plan/explain/explanation.h"

namespace collage {

/// The explanation that a plan's report_json holds; without one an error plan/no-explanation about `label`.
[[nodiscard]] Result<Explanation> explanation_in(const std::string& report_json, const std::string& label);

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
