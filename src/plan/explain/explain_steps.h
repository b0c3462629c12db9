// Prints the steps of a plan: as a table and as objects of docs/schemas/explain.schema.json.
// In:  a plan, names of nodes that select steps. Out: text, JSON.
// Not here: what other backends offered for a node (plan/explain/explain_node.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "plan/explain/explanation.h"
#include "plan/plan.h"

namespace collage {

/// Names; empty = all.
using AskedNodes = std::set<std::string>;

/// The node of this name, else those that a glob matches, in bodies too; all for "". Error plan/no-such-node.
[[nodiscard]] Result<AskedNodes> asked_nodes(const Plan& plan, const Explanation& explanation, const std::string& glob);
/// Every node that a step computes or that the explanation tells of, in bodies too.
[[nodiscard]] std::set<std::string> all_nodes(const Plan& plan, const Explanation& explanation);

/// The steps that compute one of these nodes, themselves or in a body. Those that were not timed are marked.
/// Of those in 16 bits it is said what that gains and what error it costs.
[[nodiscard]] std::string steps_as_text(const Plan& plan, const Explanation& explanation, const AskedNodes& asked);
[[nodiscard]] nlohmann::ordered_json steps_as_json(const Plan& plan, const Explanation& explanation,
                                                   const AskedNodes& asked);

}  // namespace collage
