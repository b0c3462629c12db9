#include "tune/price/candidate_pricer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "tune/price/price_apart.h"

namespace collage {
namespace {

/// Regions handed to the pricer at once; between them the deadline is looked at.
constexpr std::size_t kRegionsAtOnce = 8;
/// Regions up to this many nodes compete with one another for the same nodes.
constexpr std::size_t kShortRegion = 12;

CandidateSpec candidate_spec(const Region& region, const Candidate& candidate) {
  return {.backend = candidate.backend, .variant = candidate.variant, .labels = labels_of(region, candidate.matches)};
}

/// Nothing runs in a view.
void put_costs_of_views(const CandidatePool& pool, std::vector<Cost>& costs) {
  for (std::size_t c = 0; c < pool.candidates.size(); ++c)
    if (std::holds_alternative<Unknown>(costs[c]) && pool.candidates[c].variant.name == "view")
      costs[c] = Measured{.median_ns = 0, .low_ns = 0, .high_ns = 0, .samples = 1};
}

/// The candidates without a cost, by region of the pool.
std::vector<std::vector<std::size_t>> open_by_region(const CandidatePool& pool, const std::vector<Cost>& costs) {
  std::vector<std::vector<std::size_t>> open(pool.regions.size());
  for (std::size_t c = 0; c < pool.candidates.size(); ++c)
    if (std::holds_alternative<Unknown>(costs[c])) open[pool.candidates[c].region].push_back(c);
  return open;
}

/// Short regions in the order of the graph, so that what competes is measured within seconds, in the same mood of the
/// machine; then long ones by size. Regions without candidates to measure are left out.
std::vector<std::size_t> pricing_order(const CandidatePool& pool, const std::vector<std::vector<std::size_t>>& open) {
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < open.size(); ++r)
    if (!open[r].empty()) order.push_back(r);
  const auto place = [&](std::size_t r) {
    const NodeSet& nodes = pool.regions[r].nodes;
    const std::size_t count = nodes.count();
    return count <= kShortRegion ? std::tuple(std::size_t{0}, nodes.next(), count)
                                 : std::tuple(count, nodes.next(), count);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

}  // namespace

CandidatePricer::CandidatePricer(const PricingOptions& options, const Graph& graph, Pricer& pricer)
    : graph_(graph),
      pricer_(pricer),
      backends_apart_(options.backends_apart),
      always_covers_(options.always_covers),
      progress_(options.progress) {}

Result<std::vector<std::vector<PricedCandidate>>> CandidatePricer::ask(const std::vector<PriceRequest>& requests,
                                                                       const MeasureLimits& limits, Effort effort) {
  MeasureLimits own = limits;
  if (!always_covers_) own.latest = std::min(own.latest, own.deadline);
  return backends_apart_ ? price_apart(pricer_, graph_, requests, own, effort)
                         : pricer_.price(graph_, requests, own, effort);
}

std::size_t CandidatePricer::most_nodes(const MeasureLimits& limits) const {
  const bool is_late = limits.stop.stop_requested() || Clock::now() > limits.deadline;
  if (!is_late) return std::numeric_limits<std::size_t>::max();
  return always_covers_ ? 1 : 0;
}

void CandidatePricer::report_progress(std::size_t done, std::size_t total) const {
  if (progress_)
    progress_({.phase = "price", .done = done, .total = total, .refused = pricer_.counts().refused, .note = {}});
}

Result<std::vector<Cost>> CandidatePricer::price(const CandidatePool& pool, const MeasureLimits& limits,
                                                 std::vector<Cost> known) {
  std::vector<Cost> costs = std::move(known);
  costs.resize(pool.candidates.size(), Unknown{});
  put_costs_of_views(pool, costs);
  const std::vector<std::vector<std::size_t>> open = open_by_region(pool, costs);
  const std::vector<std::size_t> order = pricing_order(pool, open);
  for (std::size_t begin = 0; begin < order.size() && !limits.stop.stop_requested(); begin += kRegionsAtOnce) {
    const std::size_t end = std::min(order.size(), begin + kRegionsAtOnce);
    COLLAGE_TRY_VOID(price_regions(pool, {order.data() + begin, end - begin}, open, limits, costs));
    report_progress(end, order.size());
  }
  return costs;
}

Result<void> CandidatePricer::price_regions(const CandidatePool& pool, std::span<const std::size_t> regions,
                                            const std::vector<std::vector<std::size_t>>& open,
                                            const MeasureLimits& limits, std::vector<Cost>& costs) {
  std::vector<PriceRequest> requests;
  std::vector<std::size_t> asked;  // regions, by request
  for (const std::size_t r : regions) {
    const Region& region = pool.regions[r];
    PriceRequest request{.region = region, .candidates = {}};
    for (const std::size_t c : open[r]) request.candidates.push_back(candidate_spec(region, pool.candidates[c]));
    requests.push_back(std::move(request));
    asked.push_back(r);
  }
  COLLAGE_TRY(const auto priced, ask(requests, limits));
  for (std::size_t i = 0; i < asked.size(); ++i)
    for (std::size_t k = 0; k < open[asked[i]].size(); ++k) costs[open[asked[i]][k]] = priced[i][k].cost;
  return {};
}

Result<std::vector<Cost>> CandidatePricer::price_some(const CandidatePool& pool,
                                                      const std::vector<std::size_t>& candidates, Effort effort,
                                                      const MeasureLimits& limits) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_region;
  for (std::size_t i = 0; i < candidates.size(); ++i) by_region[pool.candidates[candidates[i]].region].push_back(i);
  std::vector<PriceRequest> requests;
  for (const auto& [region, places] : by_region) {
    PriceRequest request{.region = pool.regions[region], .candidates = {}};
    for (const std::size_t i : places)
      request.candidates.push_back(candidate_spec(request.region, pool.candidates[candidates[i]]));
    requests.push_back(std::move(request));
  }
  COLLAGE_TRY(const auto priced, ask(requests, limits, effort));
  std::vector<Cost> costs(candidates.size());
  std::size_t r = 0;
  for (const auto& [region, places] : by_region) {
    for (std::size_t k = 0; k < places.size(); ++k) costs[places[k]] = priced[r][k].cost;
    ++r;
  }
  return costs;
}

Result<std::vector<Cost>> CandidatePricer::price_variants(const Region& region, const std::string& backend,
                                                          const std::vector<Variant>& variants,
                                                          const MeasureLimits& limits) {
  PriceRequest request{.region = region, .candidates = {}};
  for (const Variant& variant : variants)
    request.candidates.push_back({.backend = backend, .variant = variant, .labels = labels_of(region, region.matches)});
  COLLAGE_TRY(const auto priced, ask({request}, limits));
  std::vector<Cost> costs;
  for (const PricedCandidate& one : priced.front()) costs.push_back(one.cost);
  return costs;
}

}  // namespace collage
