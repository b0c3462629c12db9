// Wraps a backend instance as a Proposer of candidates and validates its answers.
// In:  a registry, names. Out: one Proposer each.
// Cost: loading the backends.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "region/candidates.h"
#include "region/operand_checks.h"
#include "region/variant.h"

namespace collage {

/// One proposer per instance, in order. The graph, the registry and the backends outlive the result.
/// Error backend/* when an instance cannot be had.
[[nodiscard]] Result<std::vector<Proposer>> make_proposers(Registry& registry, std::span<const std::string> instances,
                                                           const Graph& graph, const CompileOptions& options);

/// backend.support(), unless refuse_operands() says no. An exception that a backend lets through, and an answer that
/// does not fit the region, costs it the region, not the user the tune.
[[nodiscard]] std::expected<std::vector<Variant>, Refusal> guarded_support(const Backend& backend, const Graph& graph,
                                                                           const Region& region,
                                                                           const CompileOptions& options);

/// What guarded_support() says to a region without labels and with each set that the backend's own rules give it.
[[nodiscard]] std::vector<Candidate> offers_of(const Backend& backend, const Graph& graph, const Region& region,
                                               const CompileOptions& options);

/// Why the backend must not run the region: an operand inside may break a rule that neither it nor the plan looks at.
/// `open` are the graph's open conditions.
[[nodiscard]] std::optional<Refusal> refuse_operands(const Backend& backend, const Graph& graph,
                                                     std::span<const OpenCondition> open, const Region& region);

/// True when one of the instances supports operators of this vendor domain: what import asks.
[[nodiscard]] bool knows_vendor_operator(Registry& registry, std::span<const std::string> instances,
                                         std::string_view domain, std::string_view op_type);

}  // namespace collage
