#include "tune/explain/margins.h"

#include <algorithm>

#include "tune/explain/exchange.h"
#include "tune/price/costs_alone.h"

namespace collage {
namespace {

class MarginFinder {
 public:
  MarginFinder(const ExplainInputs& inputs, const Uses& uses)
      : in_(inputs), uses_(uses), shipped_(inputs.plans[inputs.shipped]) {}

  Margins run() {
    out_.at_most.resize(in_.pool->candidates.size());
    out_.at_least.resize(in_.pool->candidates.size());
    for (const Candidate& made : in_.pool->candidates)
      may_fill_.push_back(std::ranges::find(in_.fillers, made.backend) == in_.fillers.end());
    out_.cover = cover_explained();
    if (out_.cover) add_cover();
    for (const CompetingPlan& plan : in_.plans)
      if (!plan.is_rival && &plan != &shipped_) add_plan(plan);
    if (out_.cover_ns && !shipped_.is_rival) add_floors(*out_.cover_ns);
    return std::move(out_);
  }

 private:
  const CompetingPlan* cover_explained() const {
    if (!shipped_.is_rival) return &shipped_;
    const CompetingPlan* best = nullptr;
    for (const CompetingPlan& plan : in_.plans)
      if (!plan.is_rival && plan.median_ns > 0 && (!best || plan.median_ns < best->median_ns)) best = &plan;
    return best;
  }

  Exchange costs_of(const CompetingPlan& plan) const {
    return {{.graph = in_.graph,
             .uses = &uses_,
             .pool = in_.pool,
             .costs = in_.costs,
             .conversions = in_.conversions,
             .launch_ns = in_.launch_ns,
             .locations = in_.locations},
            *plan.cover,
            may_fill_};
  }

  void improve(std::uint32_t candidate, std::int64_t ns, MarginBy by) {
    if (ns < out_.at_most[candidate].ns) out_.at_most[candidate] = {ns, by};
  }

  void add_cover() {
    Exchange exchange = costs_of(*out_.cover);
    table_ns_ = exchange.total_ns();
    out_.sum = sum_of(at_costs_alone(*out_.cover->cover, *in_.pool, in_.costs, in_.conversions), in_.launch_ns);
    out_.cover_ns = total_ns(out_.sum);
    if (shipped_.is_rival) return;
    for (std::size_t n = 0; n < in_.graph->nodes.size(); ++n) {
      out_.chosen.push_back(exchange.candidate_at(n));
      out_.steps.push_back(&exchange.step_at(n));
    }
    for (std::uint32_t c = 0; c < out_.at_most.size(); ++c)
      if (const auto change = exchange.change_ns(c)) improve(c, *change, MarginBy::kExchange);
  }

  /// Another plan that uses a candidate: under the table when a cover ships, else end to end.
  void add_plan(const CompetingPlan& plan) {
    const Exchange costs = costs_of(plan);
    std::optional<std::int64_t> more;
    if (shipped_.is_rival) {
      if (plan.median_ns > 0 && shipped_.median_ns > 0) more = plan.median_ns - shipped_.median_ns;
    } else if (costs.total_ns() && table_ns_) {
      // A cheaper cover that lost end to end says nothing about a single node: it is in the model gap.
      more = *costs.total_ns() - *table_ns_;
      if (*more < 0) return;
    }
    if (!more) return;
    for (std::size_t n = 0; n < in_.graph->nodes.size(); ++n)
      if (const auto c = costs.candidate_at(n))
        improve(*c, *more, shipped_.is_rival ? MarginBy::kEndToEnd : MarginBy::kCover);
  }

  NodeSet covered_by(std::uint32_t c) const { return in_.pool->regions[in_.pool->candidates[c].region].covered(); }

  /// What a candidate costs at the very least; nothing when it cannot be used.
  std::optional<std::int64_t> least_ns(std::uint32_t c) const {
    // Of bodies with steps of their own only the chosen steps were measured: others may take less.
    if (in_.pool->candidates[c].backend == kControlBackend) return 0;
    const std::int64_t launch = in_.pool->candidates[c].variant.name == "view" ? 0 : in_.launch_ns;
    if (const auto ns = nanoseconds_of(in_.costs[c])) return *ns + launch;
    if (!std::holds_alternative<Unknown>(in_.costs[c])) return std::nullopt;
    return (c < in_.lower_bound_ns.size() ? in_.lower_bound_ns[c] : 0) + launch;
  }

  /// Every cover costs at least the sum of the least share of each node, and one with a certain candidate that
  /// candidate's cost instead of the shares of its nodes.
  void add_floors(std::int64_t cover_ns) {
    std::vector<std::int64_t> share(in_.graph->nodes.size(), Margin().ns);
    for (std::uint32_t c = 0; c < out_.at_least.size(); ++c) {
      const std::optional<std::int64_t> least = least_ns(c);
      if (!least) continue;
      const std::vector<std::size_t> nodes = covered_by(c).members();
      for (const std::size_t n : nodes) share[n] = std::min(share[n], *least / static_cast<std::int64_t>(nodes.size()));
    }
    std::int64_t all = 0;
    for (const std::int64_t ns : share) all += ns == Margin().ns ? 0 : ns;
    for (std::uint32_t c = 0; c < out_.at_least.size(); ++c) {
      if (!std::holds_alternative<Unknown>(in_.costs[c])) continue;
      std::int64_t floor = all + *least_ns(c);
      for (const std::size_t n : covered_by(c).members()) floor -= share[n];
      out_.at_least[c] = std::max(floor, in_.proven_bound_ns.value_or(floor)) - cover_ns;
    }
  }

  const ExplainInputs& in_;
  const Uses& uses_;
  const CompetingPlan& shipped_;
  std::vector<bool> may_fill_;
  std::optional<std::int64_t> table_ns_;  ///< the cover's sum as exchanges count it
  Margins out_;
};

}  // namespace

Margins margins_of(const ExplainInputs& inputs, const Uses& uses) { return MarginFinder(inputs, uses).run(); }

}  // namespace collage
