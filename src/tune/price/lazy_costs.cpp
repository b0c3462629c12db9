#include "tune/price/lazy_costs.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "tune/price/computations.h"

namespace collage {
namespace {

/// Forecasts by algorithms of which little is known are not so far from the truth.
constexpr double kFarOff = 3;

/// By candidate.
std::vector<bool> smallest_for_some_node(const Graph& graph, const CandidatePool& pool) {
  const auto nodes_of = [&](const Candidate& candidate) -> const NodeSet& {
    return pool.regions[candidate.region].nodes;
  };
  std::vector<std::size_t> least(graph.nodes.size(), std::numeric_limits<std::size_t>::max());
  for (const Candidate& candidate : pool.candidates) {
    const std::size_t count = nodes_of(candidate).count();
    for (const std::size_t n : nodes_of(candidate).members()) least[n] = std::min(least[n], count);
  }
  std::vector<bool> smallest;
  for (const Candidate& candidate : pool.candidates) {
    const std::vector<std::size_t> nodes = nodes_of(candidate).members();
    smallest.push_back(std::ranges::any_of(nodes, [&](std::size_t n) { return least[n] == nodes.size(); }));
  }
  return smallest;
}

/// Of the kernels that compute any of these nodes.
std::int64_t time_of_steps_on(const NodeSet& nodes, const Cover& cover) {
  std::int64_t sum_ns = 0;
  for (const CoverStep& step : cover.steps)
    if (const auto* const kernel = std::get_if<CoverKernel>(&step.work);
        kernel && kernel->region.nodes.intersects(nodes))
      sum_ns += nanoseconds_of(step.cost).value_or(0);
  return sum_ns;
}

}  // namespace

LazyCosts::LazyCosts(const Graph& graph, const CandidatePool& pool, CostBounds& bounds, std::vector<Cost> known)
    : pool_(pool),
      bounds_(bounds),
      costs_(std::move(known)),
      class_of_(computation_classes(graph, pool)),
      is_smallest_(smallest_for_some_node(graph, pool)) {
  costs_.resize(pool.candidates.size(), Unknown{});
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    if (class_of_[c] == members_.size()) members_.emplace_back();
    members_[class_of_[c]].push_back(c);
    by_nodes_[pool.regions[candidate.region].nodes].push_back(c);
    if (candidate.variant.name == "view") costs_[c] = Measured{.median_ns = 0, .low_ns = 0, .high_ns = 0, .samples = 1};
  }
}

bool LazyCosts::is_small_enough(std::size_t candidate, std::size_t max_nodes) const {
  return pool_.regions[pool_.candidates[candidate].region].nodes.count() <= max_nodes ||
         (max_nodes > 0 && is_smallest_[candidate]);
}

std::vector<Cost> LazyCosts::forecast(Forecast kind, std::size_t max_nodes) const {
  std::vector<Cost> costs = costs_;
  for (const std::size_t first : open()) {
    const Estimated estimate{.ns = bounds_.forecast(first, kind)};
    for (const std::size_t c : members_[class_of_[first]])
      if (is_unseen(c) && is_small_enough(c, max_nodes)) costs[c] = estimate;
  }
  return costs;
}

void LazyCosts::put(std::size_t candidate, const Cost& cost, std::vector<Cost>& costs) const {
  for (const std::size_t c : members_[class_of_[candidate]])
    if (is_unseen(c)) costs[c] = cost;
}

void LazyCosts::put_forecasts(std::span<const std::size_t> candidates, Forecast kind, std::vector<Cost>& costs) const {
  for (const std::size_t candidate : candidates)
    put(candidate, Estimated{.ns = bounds_.forecast(candidate, kind)}, costs);
}

void LazyCosts::leave_out(std::span<const std::size_t> candidates, std::vector<Cost>& costs) const {
  for (const std::size_t candidate : candidates) put(candidate, Unknown{}, costs);
}

void LazyCosts::put_known(std::size_t candidate, std::vector<Cost>& costs) const {
  for (const std::size_t c : members_[class_of_[candidate]])
    if (!is_unseen(c)) costs[c] = costs_[c];
}

bool LazyCosts::is_unseen(std::size_t candidate) const { return std::holds_alternative<Unknown>(costs_[candidate]); }

std::vector<std::size_t> LazyCosts::slow_to_make(
    const std::function<bool(std::size_t candidate)>& is_made_slowly) const {
  const auto nodes_of = [this](std::size_t c) -> const NodeSet& {
    return pool_.regions[pool_.candidates[c].region].nodes;
  };
  std::optional<NodeSet> quick;
  for (std::size_t c = 0; c < costs_.size(); ++c)
    if (!std::holds_alternative<Infeasible>(costs_[c]) && !is_made_slowly(c)) {
      if (quick)
        *quick |= nodes_of(c);
      else
        quick = nodes_of(c);
    }
  std::vector<std::size_t> slow;
  for (std::size_t c = 0; quick && c < costs_.size(); ++c)
    if (is_unseen(c) && is_made_slowly(c) && nodes_of(c).is_subset_of(*quick)) slow.push_back(c);
  return slow;
}

std::vector<std::size_t> LazyCosts::open() const {
  std::vector<std::size_t> open;
  for (const auto& members : members_) {
    const auto first = std::ranges::find_if(members, [this](std::size_t c) { return is_unseen(c); });
    if (first != members.end()) open.push_back(*first);
  }
  return open;
}

std::vector<std::size_t> LazyCosts::open_by_saving(const Cover& cover) const {
  std::vector<std::pair<double, std::size_t>> savings;  // nanoseconds, candidate
  for (const std::size_t candidate : open()) {
    const std::int64_t now_ns = time_of_steps_on(pool_.regions[pool_.candidates[candidate].region].nodes, cover);
    savings.emplace_back(bounds_.expected_saving(candidate, static_cast<double>(now_ns)), candidate);
  }
  std::ranges::sort(savings, std::greater());
  std::vector<std::size_t> candidates;
  for (const auto& [saving_ns, candidate] : savings) candidates.push_back(candidate);
  return candidates;
}

double LazyCosts::expected_saving(std::size_t candidate, const Cover& hopeful, std::int64_t hoped_gain_ns) const {
  const auto uses = static_cast<double>(std::ranges::count_if(hopeful.steps, [&](const CoverStep& step) {
    const auto used = candidate_of(step);
    return used && class_of_[*used] == class_of_[candidate];
  }));
  if (uses == 0) return 0;
  const auto hoped_ns = static_cast<double>(bounds_.forecast(candidate, Forecast::kHopeful));
  return uses * bounds_.expected_saving(candidate, hoped_ns + static_cast<double>(hoped_gain_ns) / uses);
}

std::map<std::uint32_t, SegmentSaving> LazyCosts::savings(const Cover& cover, const Cover& hoped) const {
  const auto forecast = [&](const CoverStep& step) -> std::optional<ForecastStep> {
    const auto candidate = candidate_of(step);
    if (!candidate || !is_unseen(*candidate)) return std::nullopt;
    const CostModel::Prediction expected = bounds_.predict(*candidate);
    return ForecastStep{
        .computation = class_of_[*candidate], .mean_ns = expected.ns, .deviation_ns = expected.ns * expected.spread};
  };
  return segment_savings(cover, hoped, forecast);
}

std::vector<std::size_t> LazyCosts::worth_knowing(std::vector<std::size_t> candidates, const Cover& known,
                                                  const std::vector<NamedCover>& hoped, double least_ns) const {
  std::set<std::uint32_t> worth;
  for (const NamedCover& named : hoped)
    for (const auto& [computation, saving] : savings(known, named.result.cover))
      if (saving.ns >= least_ns) worth.insert(computation);
  std::erase_if(candidates, [&](std::size_t c) { return is_unseen(c) && !worth.contains(class_of_[c]); });
  return candidates;
}

std::vector<std::pair<double, std::size_t>> LazyCosts::by_share(const std::vector<std::size_t>& candidates,
                                                                const Cover& cover,
                                                                const std::vector<NamedCover>& hoped) const {
  std::map<std::uint32_t, double> most;
  for (const NamedCover& named : hoped)
    for (const auto& [computation, saving] : savings(cover, named.result.cover))
      most[computation] = std::max(most[computation], saving.share_ns);
  std::vector<std::pair<double, std::size_t>> shares;
  for (const std::size_t c : candidates) {
    const auto found = most.find(class_of_[c]);
    shares.emplace_back(found == most.end() ? 0 : found->second, c);
  }
  std::ranges::stable_sort(shares, std::greater(), &std::pair<double, std::size_t>::first);
  return shares;
}

std::optional<std::size_t> LazyCosts::candidate_of(const CoverStep& step) const {
  const auto* const kernel = std::get_if<CoverKernel>(&step.work);
  if (kernel == nullptr) return std::nullopt;
  const auto same = by_nodes_.find(kernel->region.nodes);
  if (same == by_nodes_.end()) return std::nullopt;
  const auto is_step = [&](std::size_t c) {
    const Candidate& candidate = pool_.candidates[c];
    return candidate.backend == step.backend && candidate.variant == kernel->variant &&
           pool_.regions[candidate.region] == kernel->region;
  };
  const auto found = std::ranges::find_if(same->second, is_step);
  return found == same->second.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::size_t> LazyCosts::open_in(const std::vector<NamedCover>& covers, Effort effort,
                                            std::int64_t least_ns) const {
  const auto is_open = [&](std::size_t c) {
    return is_unseen(c) || (effort == Effort::kTime && is_sampled(costs_[c]));
  };
  std::map<std::size_t, std::size_t> first;  // by class
  for (const NamedCover& named : covers)
    for (const CoverStep& step : named.result.cover.steps) {
      if (nanoseconds_of(step.cost).value_or(0) < least_ns) continue;
      if (const auto c = candidate_of(step); c && is_open(*c)) first.emplace(class_of_[*c], *c);
    }
  std::vector<std::size_t> open;
  for (const auto& [name, candidate] : first) open.push_back(candidate);
  std::sort(open.begin(), open.end());
  return open;
}

std::vector<std::size_t> LazyCosts::open_long(const Cover& cover, std::int64_t least_ns, double least_saving_ns) const {
  const auto is_worth_knowing = [&](std::size_t candidate) {
    const NodeSet& nodes = pool_.regions[pool_.candidates[candidate].region].nodes;
    if (nodes.count() == 1 || bounds_.forecast(candidate, Forecast::kExpected) < least_ns) return false;
    const auto even_ns = static_cast<double>(time_of_steps_on(nodes, cover));
    return bounds_.expected_saving(candidate, even_ns) >= least_saving_ns;
  };
  std::vector<std::size_t> candidates = open();
  std::erase_if(candidates, [&](std::size_t candidate) { return !is_worth_knowing(candidate); });
  return candidates;
}

std::map<std::uint32_t, double> LazyCosts::times_in(const Cover& cover) const {
  std::map<std::uint32_t, double> times;
  for (const CoverStep& step : cover.steps)
    if (const auto c = candidate_of(step))
      times[class_of_[*c]] += static_cast<double>(nanoseconds_of(step.cost).value_or(0));
  return times;
}

std::vector<std::size_t> LazyCosts::untried_for_long_steps(const Cover& cover, double least_ns) const {
  struct Untried {
    double steps_ns = 0;
    std::pair<double, std::size_t> nearest;  // forecast in parts of the step, candidate
  };
  std::map<std::uint32_t, Untried> of_algorithm;
  for (const auto& [computation, ns] : times_in(cover))
    for (const auto& [algorithm, nearest] : untried_in_place_of(members_[computation].front())) {
      Untried& untried = of_algorithm.try_emplace(algorithm, Untried{.nearest = nearest}).first->second;
      untried.steps_ns += ns;
      untried.nearest = std::min(untried.nearest, nearest);
    }
  std::vector<std::size_t> candidates;
  for (const auto& [algorithm, untried] : of_algorithm)
    if (untried.steps_ns >= least_ns) candidates.push_back(untried.nearest.second);
  return candidates;
}

std::map<std::uint32_t, std::pair<double, std::size_t>> LazyCosts::untried_in_place_of(std::size_t chosen) const {
  std::map<std::uint32_t, std::pair<double, std::size_t>> nearest;
  const auto known_ns = nanoseconds_of(costs_[chosen]);
  const auto chosen_ns = static_cast<double>(known_ns ? *known_ns : bounds_.forecast(chosen, Forecast::kExpected));
  for (const std::size_t c : by_nodes_.at(pool_.regions[pool_.candidates[chosen].region].nodes)) {
    const auto algorithm = is_unseen(c) ? bounds_.untried_algorithm(c) : std::nullopt;
    if (!algorithm) continue;
    const std::pair untried(static_cast<double>(bounds_.forecast(c, Forecast::kExpected)) / chosen_ns, c);
    if (untried.first > kFarOff) continue;
    const auto [known, is_first] = nearest.emplace(*algorithm, untried);
    if (!is_first) known->second = std::min(known->second, untried);
  }
  return nearest;
}

void LazyCosts::learn(std::size_t candidate, const Cost& cost) {
  if (std::holds_alternative<Unknown>(cost)) return;
  // What a sample taught, the measurement does not teach again.
  if (is_unseen(candidate)) {
    ++measured_count_;
    bounds_.learn(candidate, cost);
  }
  for (const std::size_t c : members_[class_of_[candidate]])
    if (is_unseen(c) || is_sampled(costs_[c])) costs_[c] = cost;
}

}  // namespace collage
