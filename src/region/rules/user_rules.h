// User-defined rules, from a text file: patterns for a backend, regions that must be one step, limits of a backend.
// In:  the file's text; later the proposers, a graph and the pool of candidates. Out: these with the rules applied.
// Cost: a pass over the lines, then for each rule one over nodes and candidates.
// Not here: pins and bans of nodes by name (tune/node_rules.h). docs/RULES.md describes the format.
// Source: the custom rules of Collage (Jeon et al., PACT 2022), as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "region/candidates.h"

namespace collage {

struct UserRule {
  enum class Kind : std::uint8_t {
    kPattern,  ///< the backend is asked about matches of a pattern too
    kFuse,     ///< these nodes are one step of the backend
    kRule,     ///< the backend is asked about the regions of a rule too
    kReplace,  ///< the backend is asked about these regions in place of its own
    kLimit,    ///< limits on the backend's regions
    kBan       ///< operators that the backend may not run
  };
  Kind kind = Kind::kPattern;
  std::string where;    ///< "FILE:LINE"
  std::string text;     ///< the line, for keys of what was decided under it
  std::string backend;  ///< an instance, a kind with all its instances, or "*"
  std::string label;
  PatternForm pattern;
  std::size_t max_outputs = 1;                ///< of a match
  std::vector<std::string> globs;             ///< of node names
  std::optional<PartitionRule> regions = {};  ///< of kRule and kReplace
  RegionLimits limits;                        ///< of kLimit
  std::vector<std::string> operators;         ///< of kBan
  bool operator==(const UserRule&) const = default;
};

using UserRules = std::vector<UserRule>;

/// Error region/bad-rule at FILE:LINE: what was seen, what is allowed. `file` is for messages only.
[[nodiscard]] Result<UserRules> parse_user_rules(std::string_view text, const std::string& file);
/// The same for a file on disk. Error region/cannot-read when it cannot be read.
[[nodiscard]] Result<UserRules> read_user_rules(const std::string& path);

/// Error region/bad-rule when a rule names none of the backends or no node of the graph, or when nodes to fuse cannot
/// run as one step.
[[nodiscard]] Result<void> check_user_rules(const Graph& graph, const Uses& uses, const UserRules& rules,
                                            std::span<const std::string> backends);

/// The regions that a rule of kind kPattern, kFuse, kRule or kReplace names.
[[nodiscard]] PartitionRule regions_of(const UserRule& rule);

/// Whether a rule affects the regions that this instance is asked about.
[[nodiscard]] bool concerns(const UserRules& rules, std::string_view instance);

/// Applies checked rules to the proposers: patterns and forced regions are proposed, limits and bans become refusals.
/// The graph outlives the proposers.
void add_user_rules(const Graph& graph, const UserRules& rules, std::vector<Proposer>& proposers);

/// Of the candidates that overlap a forced region, keeps only those that are exactly the region, on its backend.
/// Error region/bad-rule when no backend supports it, with the refusals.
[[nodiscard]] Result<void> keep_forced_regions(const Graph& graph, const UserRules& rules, CandidatePool& pool);

/// Whether the rules let a backend run these nodes as one step: for plans that do not come from the pool.
[[nodiscard]] bool allows(const Graph& graph, const Uses& uses, const UserRules& rules, const NodeSet& nodes,
                          std::string_view backend);

}  // namespace collage
