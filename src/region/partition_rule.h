// Which regions are worth asking about, as values: sources that name regions, combinators that make rules of rules.
// In: a rule and a context (graph, uses, reachability, what a backend takes alone). Out: proposals, each once, in a
//     fixed order. Rules compare and print; a rule needs no backend to be tested.
// Cost: in proportion to the proposals; a combination stops at max_proposals.
// Not here: what backends say to whole regions and the pool of candidates (candidates.h).
// Source: partition rules and combiner rules of TVM's RFC 62 (Collage). Its closure skipped pairs, its nested regions
//         could overlap, opaque operators had no rule: here the closure is complete, matches are flat, and singles()
//         covers every node.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "region/check_region.h"
#include "region/fusion_class.h"
#include "region/pattern.h"
#include "region/region.h"

namespace collage {

/// A region some rule names.
struct Proposal {
  NodeSet nodes;
  NodeSet repeated = {};               ///< of these, computed for this region only; of universe 0 for none
  std::vector<ValueId> absorbed = {};  ///< weights that are part of it, ascending; part of its identity
  std::vector<Match> matches = {};     ///< disjoint
  std::string origin = {};             ///< the rules it came by
};

struct RuleContext {
  const Graph& graph;
  const Uses& uses;
  const Reachability& reach;
  FusionOverrides classes = {};
  /// The backend's word on a region; none = it takes everything. May be asked often: the caller remembers.
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

/// An upstream region of class at most `from` takes in one of class at most `to` that reads it directly. With `head`,
/// the nodes at which the upstream region is entered are of that class at most.
struct GrowByClass {
  FusionClass from = FusionClass::kOpaque;
  FusionClass to = FusionClass::kOpaque;
  std::optional<FusionClass> head = std::nullopt;
  bool operator==(const GrowByClass&) const = default;
};
/// A region of class at most `most` with an operator of any number of operands (Concat, Sum) takes in the makers of all
/// of them, each a region of that class, one maker per value; all or none. Constants need no maker.
struct GrowOperands {
  FusionClass most = FusionClass::kInjective;
  bool operator==(const GrowOperands&) const = default;
};
/// A region takes in all weights that it reads: constants of more than 64 elements. Smaller ones always belong to it.
struct GrowConstants {
  bool operator==(const GrowConstants&) const = default;
};
/// All products with weights (MatMul, Gemm) or all 1x1 convolutions that read one value become one region.
struct GrowParallel {
  bool operator==(const GrowParallel&) const = default;
};
using GrowRule = std::variant<GrowByClass, GrowOperands, GrowConstants, GrowParallel>;

// ---- forms -----------------------------------------------------------------------------------------------------

/// Every node on its own, whatever it is: what makes every graph coverable.
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
/// Every node that `accepts` says yes to, or that the context takes alone where there is none. Equal by name.
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
/// What every rule proposes.
struct UnionForm {
  std::vector<PartitionRule> rules;
  bool operator==(const UnionForm&) const = default;
};
/// Closes a rule's proposals under growing: every pair with at least one new member is tried.
struct CombineForm {
  PartitionRule base;
  std::vector<GrowRule> grow;
  std::size_t max_depth = 0;  ///< of a union, really counted; 0 = no limit
  std::size_t max_proposals = 200'000;
  bool operator==(const CombineForm&) const = default;
};
/// Those that are legal under limits.
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
/// Puts one label on each whole proposal that has no match of its own.
struct LabelForm {
  std::string label;
  PartitionRule base;
  bool operator==(const LabelForm&) const = default;
};
/// Adds regions that compute for themselves what another step computes for the others: a producer that is cheap,
/// deterministic and reads no more bytes than it makes, such as a dequantiser. To each proposal of up to `max_nodes`
/// nodes that the context takes, the same with the producer of one of its inputs; to each match of a pattern with such
/// nodes inside, the same with these values not given away. `operators` empty = any such producer.
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
[[nodiscard]] PartitionRule nodes_where(std::string name,
                                        std::function<bool(const Graph&, const Node&)> accepts = nullptr);
/// The text is part of the program: a malformed one is a bug. parse_pattern() is for text from outside.
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

/// Growth in the three ready-made styles: none leaves a rule as it is; like_native fuses as a compiler does: heavy
/// operators take element-wise work along, element-wise work ends in a reduction, moves of elements join each other
/// and all operands of a Concat; any joins everything but opaque operators.
[[nodiscard]] PartitionRule grown_like_native(PartitionRule base, std::size_t max_depth);
[[nodiscard]] PartitionRule grown_any(PartitionRule base, std::size_t max_depth);

[[nodiscard]] std::vector<Proposal> enumerate(const PartitionRule& rule, const RuleContext& context);

/// One line: "valid(outputs<=1, no taps; combine(class<=anchor; anchor->broadcast; depth<=3))".
[[nodiscard]] std::string to_text(const PartitionRule& rule);

/// Whether the name matches one of the globs: * any text, ? any character, [...] one of these.
[[nodiscard]] bool matches_glob(std::string_view name, const std::vector<std::string>& globs);

}  // namespace collage
