#include "tune/explain/explanation.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "measure/roofline.h"
#include "tune/explain/explained_problem.h"
#include "tune/explain/margins.h"

namespace collage {
namespace {

/// Refusals of larger regions add little: this many of a backend are kept at a node.
constexpr std::size_t kMostRefusals = 3;
constexpr std::size_t kMostAlternatives = 4;

std::vector<std::uint32_t> positions_of(const NodeSet& nodes) {
  const std::vector<std::size_t> members = nodes.members();
  return {members.begin(), members.end()};
}

/// Puts each value once and says where it lies.
template <class T>
class Interned {
 public:
  explicit Interned(std::vector<T>& list) : list_(list) {}
  std::uint32_t at(const T& value) {
    const auto [found, added] = places_.emplace(value, static_cast<std::uint32_t>(list_.size()));
    if (added) list_.push_back(value);
    return found->second;
  }

 private:
  std::vector<T>& list_;
  std::map<T, std::uint32_t> places_;
};

class Explainer {
 public:
  explicit Explainer(const ExplainInputs& inputs)
      : in_(inputs), margins_(margins_of(inputs, uses_of(*inputs.graph))), shipped_(inputs.plans[inputs.shipped]) {}

  Explanation run() {
    out_.plan = shipped_.name;
    out_.backends = in_.backends;
    out_.fillers = in_.fillers;
    out_.only = in_.only;
    out_.absent = in_.absent;
    out_.proposals = in_.proposals;
    out_.precision = in_.precision;
    out_.peak = in_.peak;
    add_totals();
    for (const NodeRule& rule : in_.rules)
      out_.rules.push_back({.is_pin = rule.kind == NodeRule::Kind::kPin, .glob = rule.glob, .backend = rule.backend});
    for (const UserRule& rule : in_.user_rules)
      out_.user_rules.push_back({.where = rule.where,
                                 .text = rule.text,
                                 .backend = rule.backend,
                                 .takes_others = rule.kind == UserRule::Kind::kFuse});
    sort_by_node();
    for (std::size_t n = 0; n < in_.graph->nodes.size(); ++n) add_node(n);
    add_alternatives();
    add_steps();
    if (in_.conversions) add_problem(*in_.graph, in_.conversions, in_.launch_ns, out_);
    return std::move(out_);
  }

 private:
  const Candidate& candidate(std::uint32_t c) const { return in_.pool->candidates[c]; }
  const Region& region_of(std::uint32_t c) const { return in_.pool->regions[candidate(c).region]; }
  bool is_filler(const std::string& backend) const {
    return std::ranges::find(in_.fillers, backend) != in_.fillers.end();
  }

  void add_totals() {
    if (margins_.cover) out_.cover = margins_.cover->name;
    if (margins_.cover && margins_.cover->median_ns > 0) out_.measured_ns = margins_.cover->median_ns;
    out_.cover_ns = margins_.cover_ns;
    out_.sum = margins_.sum;
    out_.model_bound_ns = at_most(in_.model_bound_ns, out_.cover_ns);
    out_.proven_bound_ns = at_most(in_.proven_bound_ns, out_.model_bound_ns);
    const CompetingPlan* single = nullptr;
    for (const CompetingPlan& plan : in_.plans)
      if (plan.is_single && plan.median_ns > 0 && (!single || plan.median_ns < single->median_ns)) single = &plan;
    if (!single || !out_.measured_ns) return;
    out_.apparent_loss_ns = *out_.measured_ns - single->median_ns;
    out_.apparent_loss_against = single->name;
  }

  /// What holds of all covers holds of this one: a bound above it was one of other costs.
  static std::optional<std::int64_t> at_most(std::optional<std::int64_t> bound, std::optional<std::int64_t> most) {
    return bound && most ? std::min(*bound, *most) : bound;
  }

  // ---- nodes -------------------------------------------------------------------------------------------------
  /// Candidates and refusals by node; refusals of small regions first. A node that a region only recomputes for itself
  /// is run by another step, so the region is not an offer for it.
  void sort_by_node() {
    const std::size_t nodes = in_.graph->nodes.size();
    candidates_at_.resize(nodes);
    refusals_at_.resize(nodes);
    for (std::uint32_t c = 0; c < in_.pool->candidates.size(); ++c)
      for (const std::size_t n : region_of(c).covered().members()) {
        candidates_at_[n].push_back(c);
        if (const auto* no = std::get_if<Infeasible>(&in_.costs[c]))
          refusals_at_[n].push_back(
              refusal(candidate(c).backend, candidate(c).variant.name, no->refusal, region_of(c).nodes));
      }
    for (const RegionRefusal& no : in_.pool->refusals) {
      const Region& region = in_.pool->regions[no.region];
      for (const std::size_t n : region.covered().members())
        refusals_at_[n].push_back(refusal(no.backend, "", no.refusal, region.nodes));
    }
    for (auto& refusals : refusals_at_)
      std::ranges::stable_sort(refusals, {}, [](const ExplainedRefusal& no) { return no.nodes; });
  }

  static ExplainedRefusal refusal(const std::string& backend, const std::string& variant, const Refusal& refusal,
                                  const NodeSet& nodes) {
    return {.backend = backend,
            .variant = variant,
            .reason = std::string(name_of(refusal.reason)),
            .detail = refusal.detail,
            .nodes = static_cast<std::uint32_t>(nodes.count())};
  }

  void add_node(std::size_t n) {
    const Node& made = in_.graph->nodes[n];
    ExplainedNode node{
        .name = made.name, .flops = static_cast<Operations>(direct_flops(*in_.graph, made)), .chosen = chosen_at(n)};
    const std::string& runs = out_.candidates[node.chosen].backend;
    std::map<std::string, std::uint32_t> offers;
    std::map<std::string, std::uint32_t> unmeasured;
    for (const std::uint32_t c : candidates_at_[n]) {
      const std::string& backend = candidate(c).backend;
      if (is_chosen(c, n) || (is_filler(backend) && !is_filler(runs))) continue;
      if (nanoseconds_of(in_.costs[c])) keep_best(offers, backend, c);
      if (std::holds_alternative<Unknown>(in_.costs[c])) unmeasured.try_emplace(backend, c);
    }
    node.offers = in_order(offers);
    node.unmeasured = in_order(unmeasured);
    add_refusals(n, node);
    for (std::uint32_t r = 0; r < in_.rules.size(); ++r)
      if (names_node(in_.rules[r], in_.graph->nodes[n])) node.rules.push_back(r);
    for (std::uint32_t r = 0; r < in_.user_rules.size(); ++r)
      if (in_.user_rules[r].kind == UserRule::Kind::kFuse && matches_glob(node.name, in_.user_rules[r].globs))
        node.user_rules.push_back(r);
    out_.nodes.push_back(std::move(node));
  }

  bool is_chosen(std::uint32_t c, std::size_t n) const {
    if (!shipped_.is_rival) return margins_.chosen[n] == c;
    return candidate(c).backend == shipped_.cover->steps.front().backend &&
           region_of(c).nodes.count() == in_.graph->nodes.size();
  }

  std::tuple<std::int64_t, std::int64_t, std::uint32_t> rank(std::uint32_t c) const {
    return {margins_.at_most[c].ns, nanoseconds_of(in_.costs[c]).value_or(Margin().ns), c};
  }

  void keep_best(std::map<std::string, std::uint32_t>& best, const std::string& backend, std::uint32_t c) const {
    const auto [found, added] = best.try_emplace(backend, c);
    if (!added && rank(c) < rank(found->second)) found->second = c;
  }

  std::vector<std::uint32_t> in_order(const std::map<std::string, std::uint32_t>& best) {
    std::vector<std::uint32_t> order;
    for (const auto& [backend, c] : best) order.push_back(c);
    std::ranges::sort(order, {}, [this](std::uint32_t c) { return rank(c); });
    for (std::uint32_t& c : order) c = explained(c);
    return order;
  }

  /// A refusal that covers the node alone says all; larger regions count where the backend has no other word on it.
  void add_refusals(std::size_t n, ExplainedNode& node) {
    std::map<std::string, std::vector<std::pair<std::string, std::string>>> said;
    for (const ExplainedRefusal& no : refusals_at_[n]) {
      auto& reasons = said[no.backend];
      const bool speaks = std::ranges::any_of(candidates_at_[n], [&](std::uint32_t c) {
        return candidate(c).backend == no.backend && !std::holds_alternative<Infeasible>(in_.costs[c]);
      });
      const bool failed = !no.variant.empty();
      if (no.nodes > 1 && !failed && (speaks || !reasons.empty())) continue;
      const std::pair<std::string, std::string> reason{no.reason, no.detail};
      if (reasons.size() == kMostRefusals || std::ranges::find(reasons, reason) != reasons.end()) continue;
      reasons.push_back(reason);
      node.refusals.push_back(refusals_.at(no));
    }
  }

  // ---- candidates --------------------------------------------------------------------------------------------
  std::uint32_t explained(std::uint32_t c) {
    const auto [found, added] = places_.emplace(c, static_cast<std::uint32_t>(out_.candidates.size()));
    if (!added) return found->second;
    ExplainedCandidate made{.backend = candidate(c).backend,
                            .variant = candidate(c).variant.name,
                            .nodes = positions_of(region_of(c).nodes),
                            .repeated = positions_of(region_of(c).repeated),
                            .cost_ns = nanoseconds_of(in_.costs[c]),
                            .estimated = std::holds_alternative<Estimated>(in_.costs[c])};
    made.location = in_.locations.of(made.backend);
    made.input_formats = names_of(candidate(c).variant.input_formats);
    made.output_formats = names_of(candidate(c).variant.output_formats);
    if (!made.cost_ns && c < in_.lower_bound_ns.size()) made.cost_at_least_ns = in_.lower_bound_ns[c];
    if (std::holds_alternative<Unknown>(in_.costs[c]) && c < in_.why_unmeasured.size())
      made.why_unmeasured = in_.why_unmeasured[c];
    if (margins_.at_most[c].by != MarginBy::kNothing) {
      made.margin_ns = margins_.at_most[c].ns;
      made.margin_by = margins_.at_most[c].by;
    }
    made.margin_at_least_ns = margins_.at_least[c];
    out_.candidates.push_back(std::move(made));
    return found->second;
  }

  /// Empty when all are plain.
  static std::vector<std::string> names_of(const std::vector<Format>& formats) {
    std::vector<std::string> names;
    if (std::ranges::all_of(formats, &Format::is_plain)) return names;
    for (const Format& format : formats) names.push_back(format.name);
    return names;
  }

  /// The candidate of the pool that is this step.
  std::optional<std::uint32_t> candidate_of(const CoverStep& step, std::size_t node) const {
    for (const std::uint32_t c : candidates_at_[node])
      if (candidate(c).backend == step.backend && candidate(c).variant == *chosen_variant(step) &&
          region_of(c) == *chosen_region(step))
        return c;
    return std::nullopt;
  }

  /// The steps of the cover that costs are of, and for each node the cheapest candidate that computes nothing else:
  /// with these there is a cover whoever must run a node.
  void add_steps() {
    if (!margins_.cover) return;
    for (const CoverStep& step : margins_.cover->cover->steps)
      if (const NodeSet covered = covered_by(step); !covered.empty())
        if (const auto c = candidate_of(step, covered.next())) explained(*c);
    for (std::size_t n = 0; n < in_.graph->nodes.size(); ++n) {
      std::optional<std::uint32_t> cheapest;
      for (const std::uint32_t c : candidates_at_[n]) {
        const auto ns = nanoseconds_of(in_.costs[c]);
        if (!ns || region_of(c).nodes.count() != 1 || is_filler(candidate(c).backend)) continue;
        if (!cheapest || *ns < *nanoseconds_of(in_.costs[*cheapest])) cheapest = c;
      }
      if (cheapest) explained(*cheapest);
    }
  }

  std::uint32_t chosen_at(std::size_t n) {
    if (shipped_.is_rival) return whole_model();
    if (margins_.chosen[n]) {
      const std::uint32_t place = explained(*margins_.chosen[n]);
      out_.candidates[place].margin_ns = std::nullopt;
      out_.candidates[place].margin_by = MarginBy::kNothing;
      return place;
    }
    const CoverStep& step = *margins_.steps[n];
    const auto [found, added] = others_.emplace(&step, static_cast<std::uint32_t>(out_.candidates.size()));
    if (added)
      out_.candidates.push_back({.backend = step.backend,
                                 .variant = chosen_variant(step)->name,
                                 .nodes = positions_of(chosen_region(step)->nodes),
                                 .repeated = positions_of(chosen_region(step)->repeated),
                                 .cost_ns = nanoseconds_of(step.cost),
                                 .estimated = std::holds_alternative<Estimated>(step.cost),
                                 .input_formats = names_of(chosen_variant(step)->input_formats),
                                 .output_formats = names_of(chosen_variant(step)->output_formats),
                                 .location = in_.locations.of(step.backend)});
    return found->second;
  }

  /// The engine that runs everything, with its time end to end.
  std::uint32_t whole_model() {
    const CoverStep& step = shipped_.cover->steps.front();
    const auto [found, added] = others_.emplace(&step, static_cast<std::uint32_t>(out_.candidates.size()));
    if (added) {
      ExplainedCandidate made{.backend = step.backend, .variant = chosen_variant(step)->name};
      for (std::uint32_t n = 0; n < in_.graph->nodes.size(); ++n) made.nodes.push_back(n);
      if (shipped_.median_ns > 0) made.cost_ns = shipped_.median_ns;
      out_.candidates.push_back(std::move(made));
    }
    return found->second;
  }

  // ---- alternatives ------------------------------------------------------------------------------------------
  void add_alternatives() {
    out_.alternatives_complete = in_.alternatives_complete;
    out_.why_no_alternatives = margins_.cover ? in_.why_no_alternatives : "no cover competed";
    if (!margins_.cover) return;
    std::vector<const CoverStep*> at(in_.graph->nodes.size(), nullptr);
    for (const CoverStep& step : margins_.cover->cover->steps)
      for (const std::size_t n : covered_by(step).members()) at[n] = &step;
    for (const CompetingPlan& plan : in_.plans)
      if (plan.is_alternative && out_.alternatives.size() < kMostAlternatives) add_alternative(*plan.cover, at);
  }

  /// Nothing for the cover explained itself.
  void add_alternative(const Cover& cover, const std::vector<const CoverStep*>& at) {
    ExplainedAlternative made{.cost_ns = cover.cost_ns};
    for (const CoverStep& step : cover.steps) {
      const NodeSet covered = covered_by(step);
      if (covered.empty() || is_same(step, *at[covered.next()])) continue;
      made.changed += static_cast<std::uint32_t>(covered.count());
      if (const auto c = candidate_of(step, covered.next())) made.steps.push_back(explained(*c));
    }
    if (made.changed > 0) out_.alternatives.push_back(std::move(made));
  }

  static NodeSet covered_by(const CoverStep& step) {
    const Region* const region = chosen_region(step);
    return region == nullptr ? NodeSet() : region->covered();
  }
  /// Both with nodes.
  static bool is_same(const CoverStep& a, const CoverStep& b) {
    return a.backend == b.backend && *chosen_variant(a) == *chosen_variant(b) && *chosen_region(a) == *chosen_region(b);
  }

  const ExplainInputs& in_;
  const Margins margins_;
  const CompetingPlan& shipped_;
  Explanation out_;
  Interned<ExplainedRefusal> refusals_{out_.refusals};
  std::vector<std::vector<std::uint32_t>> candidates_at_;  ///< by node
  std::vector<std::vector<ExplainedRefusal>> refusals_at_;
  std::map<std::uint32_t, std::uint32_t> places_;     ///< candidate of the pool -> candidate explained
  std::map<const CoverStep*, std::uint32_t> others_;  ///< the same for steps that are not in the pool
};

}  // namespace

Explanation explain_cover(const ExplainInputs& inputs) { return Explainer(inputs).run(); }

}  // namespace collage
