// The user's word on who runs which node: --ban GLOB=NAME and --pin GLOB=NAME.
// In: rules and the simplified graph. Out: what candidates and whole-model engines remain.
// Cost: nodes x rules.
// Source: partitioning for one toolchain in TVM; globs as in POSIX.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "region/candidates.h"

namespace collage {

struct NodeRule {
  enum class Kind : std::uint8_t {
    kBan,  ///< the backend does not run the nodes
    kPin   ///< no other backend runs the nodes
  };
  Kind kind = Kind::kBan;
  std::string glob;     ///< of node names: * any text, ? any character, [...] one of these
  std::string backend;  ///< an instance, or a kind with all its instances
};

/// "GLOB=NAME"; NAME may be an instance with options. Error tune/bad-rule with the option's name.
[[nodiscard]] Result<NodeRule> parse_node_rule(NodeRule::Kind kind, const std::string& text);

[[nodiscard]] bool names_node(const NodeRule& rule, const Node& node);

/// Error tune/bad-rule when a rule's glob matches no node of the graph.
[[nodiscard]] Result<void> check_rules(const Graph& graph, std::span<const NodeRule> rules);

/// Whether the rules let this backend run all these nodes.
[[nodiscard]] bool is_allowed(const Graph& graph, const NodeSet& nodes, std::string_view backend,
                              std::span<const NodeRule> rules);

/// Removes the candidates that the rules forbid.
void apply_rules(const Graph& graph, std::span<const NodeRule> rules, CandidatePool& pool);

}  // namespace collage
