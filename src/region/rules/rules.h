// What a backend declares about the regions that it wants to be asked about, as tables, which become one rule.
// In:  patterns, a style of growth, limits. Out: a PartitionRule (partition_rule.h).
// To add a pattern to a backend, add one line to its table: {"label", "Conv -> Relu?"}; pattern.h has the language.
// Cost: linear in the tables.
// Source: the pattern tables of TVM's bring-your-own-codegen, with one line for a pattern.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "region/format.h"
#include "region/rules/partition_rule.h"

namespace collage {

/// How the regions of a backend grow beyond single operators and patterns.
enum class Growth : std::uint8_t {
  kNone,        ///< only single operators and the patterns listed
  kLikeNative,  ///< as in a compiler's fusion: chains while the backend supports them, and fused_like_native()
  kAny          ///< long runs of supported nodes: an engine
};

struct Pattern {
  std::string label;
  std::string text;             ///< in the pattern language
  std::size_t max_outputs = 1;  ///< values that may leave a match; 0 = any number
  bool operator==(const Pattern&) const = default;
};

/// Which producers of inputs a backend's regions may recompute for themselves; see with_repeats().
enum class RepeatStyle : std::uint8_t {
  kNone,
  kListed,  ///< the operators in PartitionRules::repeated
  kCheap    ///< everything cheap and deterministic
};

struct PartitionRules {
  std::vector<Pattern> patterns = {};
  Growth growth = Growth::kNone;
  std::size_t max_region_nodes = 64;  ///< for kLikeNative
  std::size_t max_splits = 0;         ///< for kAny: ways to cut a maximal run, less one
  RepeatStyle repeats = RepeatStyle::kNone;
  std::vector<std::string> repeated = {};
  std::vector<PartitionRule> more = {};               ///< rules beside the tables
  std::optional<PartitionRule> own = std::nullopt;    ///< in place of everything above but `repeats`
  std::optional<RegionLimits> limits = std::nullopt;  ///< of every region the backend is asked about
};

/// How the proposer turns tables into rules.
struct RuleOptions {
  std::size_t max_ranges = 40;   ///< of an engine
  std::size_t max_crossing = 1;  ///< live values at a narrow place
};

/// The regions of grown_like_native(base) that can be one kernel: with one output, which is not read inside. Unlike
/// chains, they include diamonds of element-wise operators.
[[nodiscard]] PartitionRule fused_like_native(PartitionRule base, std::size_t max_nodes);

/// Every node on its own, the patterns, growth in the backend's style, then the additional rules.
/// The texts of patterns must parse: they are part of the program (check_patterns() for those from outside).
[[nodiscard]] PartitionRule rule_of(const PartitionRules& rules, const RuleOptions& options = {});

/// Error region/bad-pattern of the first pattern that does not parse.
[[nodiscard]] Result<void> check_patterns(const PartitionRules& rules);

}  // namespace collage
