// Rules that say which regions a backend is asked about. A rule is a value. Some forms name regions (single operators,
// matches of a pattern); others build rules from rules (union, growth, limits, labels).
// In:  a rule and a context (graph, uses, reachability, what a backend supports alone).
// Out: proposals, each once, in a fixed order. Rules can be compared and printed, and tested without a backend.
// Cost: linear in the number of proposals; a combination stops at max_proposals.
// Not here: asking backends, and the pool of candidates (candidates.h).
// Source: partition rules and combiner rules of TVM's RFC 62 (Collage). Differs: the closure tries every pair, labelled
//       matches are disjoint, and singles() proposes opaque operators too.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "region/check_region.h"
#include "region/region.h"
#include "region/rules/fusion_class.h"
#include "region/rules/pattern.h"

namespace collage {

/// A region that a rule names.
struct Proposal {
  NodeSet nodes;
  NodeSet repeated = {};            ///< of these, computed for this region only; of universe 0 for none
  std::vector<Match> matches = {};  ///< disjoint
  std::string origin = {};          ///< the rules that named it
};

struct RuleContext {
  const Graph& graph;
  const Uses& uses;
  const Reachability& reach;
  /// Whether the backend supports a region; none = it supports everything. May be called often: the caller caches.
  std::function<bool(const NodeSet& nodes)> takes = nullptr;
};

struct RuleForm;

/// An immutable rule; copies share it.
class PartitionRule {
 public:
  explicit PartitionRule(RuleForm form);
  [[nodiscard]] const RuleForm& form() const { return *form_; }
  bool operator==(const PartitionRule& other) const;

 private:
  std::shared_ptr<const RuleForm> form_;
};

// ---- growing ---------------------------------------------------------------------------------------------------

/// A region of class at most `from` absorbs a region of class at most `to` that reads it directly.
struct GrowByClass {
  FusionClass from = FusionClass::kOpaque;
  FusionClass to = FusionClass::kOpaque;
  bool operator==(const GrowByClass&) const = default;
};
/// A region of class at most `most` with an operator of any number of operands (Concat, Sum) absorbs the producers of
/// all of them, each a region of that class, one for each value; all or none. Constants have no producer.
struct GrowOperands {
  FusionClass most = FusionClass::kInjective;
  bool operator==(const GrowOperands&) const = default;
};
/// All products with weights (MatMul, Gemm) or all 1x1 convolutions that read one value become one region.
struct GrowParallel {
  bool operator==(const GrowParallel&) const = default;
};
using GrowRule = std::variant<GrowByClass, GrowOperands, GrowParallel>;

// ---- forms -----------------------------------------------------------------------------------------------------

/// Every single node, whatever its operator, so that every graph can be covered.
struct SinglesForm {
  bool operator==(const SinglesForm&) const = default;
};
/// Every node of class at most `most`.
struct ClassForm {
  FusionClass most = FusionClass::kAnchor;
  bool operator==(const ClassForm&) const = default;
};
/// Every node with one of these operators.
struct OperatorForm {
  std::vector<std::string> operators;
  bool operator==(const OperatorForm&) const = default;
};
/// Every node that `accepts` accepts; without `accepts`, every node that the backend supports alone. Equal by name.
struct PredicateForm {
  std::string name;
  std::function<bool(const Graph& graph, const Node& node)> accepts;
  bool operator==(const PredicateForm& other) const { return name == other.name; }
};
/// Every match of a pattern; a labelled one is a match of its proposal.
struct PatternRuleForm {
  std::string label;
  PatternForm pattern;
  std::size_t max_outputs = 1;
  bool operator==(const PatternRuleForm&) const = default;
};
/// The nodes whose names match one of the globs, as one region.
struct NamedForm {
  std::string label;
  std::vector<std::string> globs;
  bool operator==(const NamedForm&) const = default;
};
/// Regions of the context's taken nodes: maximal runs in the graph's order, maximal connected regions, and the runs cut
/// at narrow places into 2 .. max_splits + 1 parts of about one length.
struct MaximalForm {
  std::size_t max_splits = 0;
  bool operator==(const MaximalForm&) const = default;
};
/// Ranges of nodes between narrow places, in doubling lengths.
struct RangesForm {
  std::size_t max_crossing = 1;  ///< a narrow place has at most this many live values
  std::size_t max_ranges = 40;
  bool operator==(const RangesForm&) const = default;
};
/// The proposals of all rules.
struct UnionForm {
  std::vector<PartitionRule> rules;
  bool operator==(const UnionForm&) const = default;
};
/// The most proposals of a closure: the number of sub-graphs of wide element-wise graphs is exponential.
inline constexpr std::size_t kMostGrown = 20'000;

/// Closes a rule's proposals under growing: every pair with at least one new member is tried.
struct CombineForm {
  PartitionRule base;
  std::vector<GrowRule> grow;
  std::size_t max_depth = 0;  ///< of a union, computed exactly; 0 = no limit
  std::size_t max_proposals = kMostGrown;
  bool operator==(const CombineForm&) const = default;
};
/// The proposals that are legal under limits.
struct ValidForm {
  PartitionRule base;
  RegionLimits limits;
  bool operator==(const ValidForm&) const = default;
};
/// Grows each proposal node by node along the only reader of its only output while the context takes it.
struct FollowForm {
  PartitionRule base;
  std::size_t max_nodes = 64;
  bool operator==(const FollowForm&) const = default;
};
/// Labels each whole proposal that has no match.
struct LabelForm {
  std::string label;
  PartitionRule base;
  bool operator==(const LabelForm&) const = default;
};
/// Adds regions that recompute a cheap producer for themselves, although another step computes it for the other
/// readers. The producer is deterministic and reads no more bytes than it writes, such as a dequantiser. Each proposal
/// of at most `max_nodes` nodes is also proposed together with the producer of one of its inputs; each match of a
/// pattern that contains such producers is also proposed with their values kept inside. `operators` names the producers
/// allowed; empty means any.
struct RepeatForm {
  PartitionRule base;
  std::vector<std::string> operators;
  std::size_t max_nodes = 12;
  bool operator==(const RepeatForm&) const = default;
};

struct RuleForm {
  std::variant<SinglesForm, ClassForm, OperatorForm, PredicateForm, PatternRuleForm, NamedForm, MaximalForm, RangesForm,
               UnionForm, CombineForm, ValidForm, FollowForm, LabelForm, RepeatForm>
      is;
  bool operator==(const RuleForm&) const = default;
};

// ---- making rules ----------------------------------------------------------------------------------------------

[[nodiscard]] PartitionRule singles();
[[nodiscard]] PartitionRule operators_up_to(FusionClass most);
[[nodiscard]] PartitionRule operators_named(std::vector<std::string> operators);
[[nodiscard]] PartitionRule nodes_where(std::string name, std::function<bool(const Graph&, const Node&)> accepts);
[[nodiscard]] PartitionRule taken_nodes();
/// For text that is part of the program: a malformed one is a bug. parse_pattern() is for text from users.
[[nodiscard]] PartitionRule pattern_rule(std::string label, std::string_view text, std::size_t max_outputs = 1);
[[nodiscard]] PartitionRule pattern_rule(std::string label, PatternForm pattern, std::size_t max_outputs = 1);
[[nodiscard]] PartitionRule nodes_named(std::string label, std::vector<std::string> globs);
[[nodiscard]] PartitionRule maximal_regions(std::size_t max_splits = 0);
[[nodiscard]] PartitionRule block_ranges(std::size_t max_crossing = 1, std::size_t max_ranges = 40);
[[nodiscard]] PartitionRule any_of(std::vector<PartitionRule> rules);
[[nodiscard]] PartitionRule combine(PartitionRule base, std::vector<GrowRule> grow, std::size_t max_depth);
[[nodiscard]] PartitionRule only_valid(PartitionRule base, RegionLimits limits);
[[nodiscard]] PartitionRule follow(PartitionRule base, std::size_t max_nodes);
[[nodiscard]] PartitionRule labelled(std::string label, PartitionRule base);
[[nodiscard]] PartitionRule with_repeats(PartitionRule base, std::vector<std::string> operators = {},
                                         std::size_t max_nodes = 12);

/// Growth as in a compiler's fusion: a heavy operator or element-wise work absorbs the element-wise work that follows
/// it, up to `max_depth` nodes deep; a Concat absorbs the data movement and element-wise work that produce all of its
/// operands.
///
/// Compilers also fuse element-wise work into a following reduction, and data movement into data movement. These rules
/// leave both out: a Concat ranks below reductions, so it could absorb any subset of its k producers, which is 2^k
/// regions. On sixty models, three had two to four times as many candidates. FollowForm proposes the chains among these
/// regions.
[[nodiscard]] PartitionRule grown_like_native(PartitionRule base, std::size_t max_depth);

[[nodiscard]] std::vector<Proposal> enumerate(const PartitionRule& rule, const RuleContext& context);

/// One line: "valid(outputs<=1, no taps; combine(class<=anchor; anchor->broadcast; depth<=3))".
[[nodiscard]] std::string to_text(const PartitionRule& rule);
/// Parses the text of a rule from users; docs/RULES.md lists the supported forms. Error region/bad-rule.
[[nodiscard]] Result<PartitionRule> parse_rule(std::string_view text, const std::string& where);

/// Whether the name matches one of the globs: * any text, ? any character, [...] one of these.
[[nodiscard]] bool matches_glob(std::string_view name, const std::vector<std::string>& globs);

}  // namespace collage
