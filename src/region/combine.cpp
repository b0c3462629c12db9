// The closure of proposals under growing rules: a work list in which every member, when its turn comes, is tried with
// all members before it, as upstream and as downstream. So every pair is tried once both are there, and none is missed.
#include <algorithm>
#include <set>

#include "region/enumerate.h"
#include "region/hash_index.h"
#include "region/parallel.h"

namespace collage {
namespace {

/// Ways to choose makers of operands that one new member adds, at most: a Concat of many parts has too many.
constexpr std::size_t kMostChoices = 4096;

bool takes_any_number(const Node& node) {
  static const std::set<std::string, std::less<>> names = {"Concat", "Max", "Mean", "Min", "Sum"};
  return node.domain.empty() && names.contains(node.op_type);
}

/// What a proposal computes and how it is labelled; its origin does not matter.
bool proposes_the_same(const Proposal& a, const Proposal& b) {
  return a.nodes == b.nodes && a.repeated == b.repeated && a.matches == b.matches;
}

struct Member {
  Proposal proposal;
  Region region;
  FusionClass fusion_class = FusionClass::kOpaque;
};

class Closure {
 public:
  Closure(const CombineForm& form, const RuleContext& context)
      : form_(form), context_(context), holders_(context.graph.nodes.size()) {
    for (const GrowRule& grow : form.grow) {
      if (const auto* by_class = std::get_if<GrowByClass>(&grow)) by_class_.push_back(*by_class);
      if (const auto* operands = std::get_if<GrowOperands>(&grow)) operands_ = operands->most;
      parallel_ = parallel_ || std::holds_alternative<GrowParallel>(grow);
    }
  }

  std::vector<Proposal> run(std::vector<Proposal> base) {
    std::vector<Proposal> side_by_side;
    if (parallel_) side_by_side = parallel_products(context_.graph, context_.uses, base);
    for (auto* proposals : {&base, &side_by_side})
      for (Proposal& proposal : *proposals) add(std::move(proposal));
    for (std::uint32_t i = 0; i < members_.size(); ++i) grow(i);
    std::vector<Proposal> result;
    result.reserve(members_.size());
    for (Member& member : members_) result.push_back(std::move(member.proposal));
    return result;
  }

 private:
  void grow(std::uint32_t i) {
    tried_.resize(members_.size(), {});
    for (const std::size_t n : members_[i].proposal.nodes.members()) holders_[n].push_back(i);
    // Members that join during the loops have turns of their own; the lists of holders do not change meanwhile.
    const Region region = members_[i].region;
    if (!by_class_.empty()) {
      for (const ValueId id : region.outputs)
        for (const NodeId reader : context_.uses.consumers[id.index])
          for (const std::uint32_t down : holders_[reader.index]) try_pair(i, down);
      for (const ValueId id : region.inputs)
        if (const NodeId maker = context_.uses.producer[id.index]; maker.valid())
          for (const std::uint32_t up : holders_[maker.index]) try_pair(up, i);
    }
    if (operands_) grow_operands(i, region);
  }

  void try_pair(std::uint32_t up, std::uint32_t down) {
    std::uint32_t& last = up > down ? tried_[down].as_downstream : tried_[up].as_upstream;
    const std::uint32_t turn = std::max(up, down) + 1;
    if (up == down || std::exchange(last, turn) == turn) return;
    const Member& a = members_[up];
    const Member& b = members_[down];
    const bool fires = std::ranges::any_of(
        by_class_, [&](const GrowByClass& grow) { return a.fusion_class <= grow.from && b.fusion_class <= grow.to; });
    if (!fires || a.proposal.nodes.intersects(b.proposal.nodes)) return;
    join({up, down}, "class");
  }

  /// Adds the union of members when it can run as one step within the depth.
  void join(const std::vector<std::uint32_t>& parts, std::string_view rule) {
    Proposal joined{.nodes = NodeSet(context_.graph.nodes.size())};
    for (const std::uint32_t part : parts) {
      const Proposal& proposal = members_[part].proposal;
      joined.nodes |= proposal.nodes;
      joined.matches.insert(joined.matches.end(), proposal.matches.begin(), proposal.matches.end());
    }
    std::ranges::sort(joined.matches, [](const Match& a, const Match& b) { return a.nodes < b.nodes; });
    joined.origin = "grow " + std::string(rule);
    if (is_known(joined) || !context_.reach.is_convex(joined.nodes) || is_too_deep(joined.nodes)) return;
    add(std::move(joined));
  }

  bool is_too_deep(const NodeSet& nodes) const {
    return form_.max_depth != 0 && depth_of(context_.graph, context_.uses, nodes) > form_.max_depth;
  }

  // ---- operands of one operator ------------------------------------------------------------------------------
  void grow_operands(std::uint32_t i, const Region& region) {
    for (const std::size_t n : region.nodes.members()) complete_operands(i, n, i);
    for (const ValueId id : region.outputs)
      for (const NodeId reader : context_.uses.consumers[id.index])
        for (const std::uint32_t consumer : holders_[reader.index])
          if (consumer != i) complete_operands(consumer, reader.index, i);
  }

  /// All ways to take in makers of the node's operands that need member `newest`, the consumer itself or a maker.
  void complete_operands(std::uint32_t consumer, std::size_t node, std::uint32_t newest) {
    const Node& wide = context_.graph.nodes[node];
    if (!takes_any_number(wide) || members_[consumer].fusion_class > *operands_) return;
    std::vector<ValueId> values;
    for (const ValueId id : wide.inputs) {
      if (!id.valid() || context_.graph.value(id).constant) continue;
      const NodeId maker = context_.uses.producer[id.index];
      if (!maker.valid() || members_[consumer].proposal.nodes.contains(maker.index)) return;
      if (std::ranges::find(values, id) == values.end()) values.push_back(id);
    }
    if (values.empty()) return;
    std::size_t left = kMostChoices;
    const NodeSet nodes = members_[consumer].proposal.nodes;  // a copy: members move when one joins
    choose(values, 0, {consumer}, nodes, newest, left);
  }

  void choose(const std::vector<ValueId>& values, std::size_t next, std::vector<std::uint32_t> parts,
              const NodeSet& nodes, std::uint32_t newest, std::size_t& left) {
    if (left == 0 || is_too_deep(nodes)) return;
    --left;
    while (next < values.size() && nodes.contains(context_.uses.producer[values[next].index].index)) ++next;
    if (next == values.size()) {
      if (std::ranges::find(parts, newest) != parts.end()) join(parts, "operands");
      return;
    }
    // Joining adds members, which moves them, but no holders: their turn comes later.
    for (const std::uint32_t maker : holders_[context_.uses.producer[values[next].index].index]) {
      const Member& member = members_[maker];
      if (member.fusion_class > *operands_ || member.proposal.nodes.intersects(nodes)) continue;
      if (std::ranges::find(member.region.outputs, values[next]) == member.region.outputs.end()) continue;
      const NodeSet grown = nodes | member.proposal.nodes;
      parts.push_back(maker);
      choose(values, next + 1, parts, grown, newest, left);
      parts.pop_back();
    }
  }

  // ---- members -----------------------------------------------------------------------------------------------
  [[nodiscard]] bool is_known(const Proposal& proposal) const {
    return known_
        .find(proposal.nodes.hash(), [&](std::uint32_t m) { return proposes_the_same(members_[m].proposal, proposal); })
        .has_value();
  }

  void add(Proposal proposal) {
    if (members_.size() >= form_.max_proposals || is_known(proposal)) return;
    known_.add(proposal.nodes.hash());
    Member member{.region = make_region(context_.graph, context_.uses, proposal.nodes)};
    member.fusion_class = fusion_class_of(context_.graph, proposal.nodes);
    member.proposal = std::move(proposal);
    members_.push_back(std::move(member));
    tried_.resize(members_.size(), {});
  }

  /// The turn in which the pair with a member was last tried, so that two values between them make no second try.
  struct Turns {
    std::uint32_t as_upstream = 0;
    std::uint32_t as_downstream = 0;
  };

  const CombineForm& form_;
  const RuleContext& context_;
  std::vector<GrowByClass> by_class_;
  std::optional<FusionClass> operands_;
  bool parallel_ = false;
  std::vector<Member> members_;
  std::vector<Turns> tried_;
  HashIndex known_;                                  ///< by hash of the nodes
  std::vector<std::vector<std::uint32_t>> holders_;  ///< by node: members whose turn has come
};

}  // namespace

std::vector<Proposal> closure(const CombineForm& form, std::vector<Proposal> base, const RuleContext& context) {
  return Closure(form, context).run(std::move(base));
}

std::vector<Proposal> without_duplicates(std::vector<Proposal> proposals) {
  HashIndex known;
  std::vector<Proposal> kept;
  kept.reserve(proposals.size());
  for (Proposal& proposal : proposals) {
    const std::uint64_t hash = proposal.nodes.hash();
    if (known.find(hash, [&](std::uint32_t k) { return proposes_the_same(kept[k], proposal); })) continue;
    known.add(hash);
    kept.push_back(std::move(proposal));
  }
  return kept;
}

}  // namespace collage
