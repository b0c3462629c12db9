// The user's rules on which backend runs which node: --ban GLOB=NAME, --pin GLOB=NAME, and pins stored in a model.
// In:  rules, the simplified graph. Out: the candidates and whole-model engines that the rules allow.
// Nodes inside the bodies of an If, Loop or Scan are named like all others. kControlBackend as NAME stands for running
// an If, Loop or Scan as steps of its bodies.
// Cost: nodes x rules.
// Source: partitioning for one toolchain in TVM; globs as in POSIX.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/registry.h"
#include "region/candidates.h"

namespace collage {

struct NodeRule {
  enum class Kind : std::uint8_t {
    kBan,  ///< the backend does not run the nodes
    kPin   ///< no other backend runs the nodes
  };
  Kind kind = Kind::kBan;
  std::string glob;     ///< of node names: * any text, ? any character, [...] one of these
  std::string backend;  ///< an instance, a kind with all its instances, or a device with all its backends
  std::vector<std::string> on_device = {};  ///< the instances meant when `backend` is a device (resolve_devices)
};

/// The key of a model's metadata_props whose value is pins, GLOB=NAME separated by ';' or line ends.
inline constexpr const char* kPinMetadata = "collage.pin";

/// "GLOB=NAME"; NAME may be an instance with options. Error tune/bad-rule with the option's name.
[[nodiscard]] Result<NodeRule> parse_node_rule(NodeRule::Kind kind, const std::string& text);

/// The pins of a model's metadata; empty text gives none. Error tune/bad-rule.
[[nodiscard]] Result<std::vector<NodeRule>> parse_pins(const std::string& text);

/// The instances of `among` that run on the device of this name.
[[nodiscard]] std::vector<std::string> backends_on(const std::string& device, Registry& registry,
                                                   std::span<const std::string> among);

/// Rules that name no backend but a device of these instances mean all its instances.
/// The error of the registry when a name is neither.
[[nodiscard]] Result<void> resolve_devices(Registry& registry, std::span<const std::string> instances,
                                           std::vector<NodeRule>& rules);

[[nodiscard]] bool names_node(const NodeRule& rule, const Node& node);

/// Error tune/bad-rule when a rule's glob matches no node of the graph or of a body in it.
[[nodiscard]] Result<void> check_rules(const Graph& graph, std::span<const NodeRule> rules);

/// Whether the rules let this backend run all these nodes with the bodies they hold.
[[nodiscard]] bool is_allowed(const Graph& graph, const NodeSet& nodes, std::string_view backend,
                              std::span<const NodeRule> rules);

/// Removes the candidates that the rules forbid.
void apply_rules(const Graph& graph, std::span<const NodeRule> rules, CandidatePool& pool);

}  // namespace collage
