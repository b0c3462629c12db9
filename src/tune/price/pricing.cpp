#include "tune/price/pricing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "backend/extensions/portability_extension.h"
#include "backend/roles.h"
#include "timing/displacer.h"
#include "tune/price/lazy_pricing.h"

namespace collage {
namespace {

/// Requests handed to the pricer at once; between them the deadline is looked at.
constexpr std::size_t kChunk = 8;
/// An optimistic conversion: a fixed part and both sides at this many bytes per nanosecond.
constexpr std::int64_t kConversionFixedNs = 200;
constexpr std::int64_t kConversionBytesPerNs = 200;
constexpr int kMostSearches = 24;

std::int64_t weight_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.constant) bytes += static_cast<std::int64_t>(value.constant->data.size());
  return bytes;
}

PricerOptions pricer_options(const PricingOptions& options, const Graph& graph) {
  PricerOptions result;
  result.displaced_bytes = displaced_bytes(weight_bytes(graph), cache_sizes());
  result.measure = options.measure;
  result.graph = options.files;
  result.repros = options.repros;
  return result;
}

bool out_of_time(const MeasureLimits& limits) { return limits.stop.stop_requested() || Clock::now() > limits.deadline; }

bool is_over(const MeasureLimits& limits) { return Clock::now() > limits.latest; }

CandidateSpec spec_of(const Region& region, const Candidate& candidate) {
  return {.backend = candidate.backend, .variant = candidate.variant, .labels = labels_of(region, candidate.matches)};
}

CandidateSpec spec_of(const std::string& backend, const CoverKernel& kernel) {
  return {.backend = backend, .variant = kernel.variant, .labels = labels_of(kernel.region, kernel.region.matches)};
}

Error no_artifact(const std::string& what, const Refusal& refusal) {
  return {.code = "tune/no-artifact",
          .where = what,
          .saw = std::string(name_of(refusal.reason)) + ": " + refusal.detail,
          .allowed = "a candidate that works with the weights of its place",
          .exit = ExitCode::kUnsupported};
}

std::string title_of(const Graph& graph, const std::string& backend, const CoverKernel& kernel) {
  return backend + "/" + kernel.variant.name + " at " + graph.nodes[kernel.region.nodes.next()].name;
}

/// Regions up to this many nodes compete with one another for the same nodes.
constexpr std::size_t kShortRegion = 12;

/// Short regions in the order of the graph, so that what competes is measured within seconds, in the same mood of the
/// machine; then long ones by size. Regions without candidates to measure are left out.
std::vector<std::size_t> pricing_order(const CandidatePool& pool,
                                       const std::vector<std::vector<std::size_t>>& by_region) {
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < by_region.size(); ++r)
    if (!by_region[r].empty()) order.push_back(r);
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

Pricing::Pricing(PricingOptions options, const Graph& graph, Registry& registry, Store& store)
    : options_(std::move(options)),
      graph_(graph),
      registry_(registry),
      pricer_(std::make_unique<Pricer>(pricer_options(options_, graph), registry, store)) {}

Result<std::vector<std::vector<PricedCandidate>>> Pricing::ask(const std::vector<PriceRequest>& requests,
                                                               const MeasureLimits& limits) {
  if (!options_.backends_apart) return pricer_->price(graph_, requests, limits);
  std::set<std::string> names;
  for (const PriceRequest& request : requests)
    for (const CandidateSpec& candidate : request.candidates) names.insert(candidate.backend);
  std::vector<std::vector<PricedCandidate>> answers;
  for (const PriceRequest& request : requests) answers.emplace_back(request.candidates.size());
  for (const std::string& name : names) {
    std::vector<PriceRequest> own;
    std::vector<std::vector<std::size_t>> places;
    for (const PriceRequest& request : requests) {
      own.push_back({.region = request.region, .candidates = {}});
      places.emplace_back();
      for (std::size_t c = 0; c < request.candidates.size(); ++c)
        if (request.candidates[c].backend == name) {
          own.back().candidates.push_back(request.candidates[c]);
          places.back().push_back(c);
        }
    }
    pricer_->leave_worker();
    COLLAGE_TRY(auto priced, pricer_->price(graph_, own, limits));
    for (std::size_t r = 0; r < own.size(); ++r)
      for (std::size_t c = 0; c < places[r].size(); ++c) answers[r][places[r][c]] = std::move(priced[r][c]);
  }
  pricer_->leave_worker();
  return answers;
}

Result<SearchResult> Pricing::best(CoverRequest request) {
  const CoverRequest whole = completed(std::move(request));
  return best_cover(whole, whole.backends);
}

Result<std::vector<Cost>> Pricing::price(const CandidatePool& pool, const MeasureLimits& limits,
                                         std::vector<Cost> known) {
  std::vector<Cost> costs = std::move(known);
  costs.resize(pool.candidates.size(), Unknown{});
  std::vector<std::vector<std::size_t>> by_region(pool.regions.size());
  for (std::size_t c = 0; c < pool.candidates.size(); ++c) {
    if (!std::holds_alternative<Unknown>(costs[c])) continue;
    if (pool.candidates[c].variant.name == "view")
      costs[c] = Measured{.median_ns = 0, .low_ns = 0, .high_ns = 0, .samples = 1};
    else
      by_region[pool.candidates[c].region].push_back(c);
  }
  const std::vector<std::size_t> order = pricing_order(pool, by_region);
  for (std::size_t begin = 0; begin < order.size() && !limits.stop.stop_requested(); begin += kChunk) {
    const std::size_t end = std::min(order.size(), begin + kChunk);
    std::vector<PriceRequest> requests;
    std::vector<std::size_t> asked;  // regions, by request
    for (std::size_t i = begin; i < end; ++i) {
      const Region& region = pool.regions[order[i]];
      if (out_of_time(limits) && region.nodes.count() > late_nodes()) continue;
      PriceRequest request{.region = region, .candidates = {}};
      for (const std::size_t c : by_region[order[i]]) request.candidates.push_back(spec_of(region, pool.candidates[c]));
      requests.push_back(std::move(request));
      asked.push_back(order[i]);
    }
    COLLAGE_TRY(const auto priced, ask(requests, limits));
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (std::size_t k = 0; k < by_region[asked[i]].size(); ++k) costs[by_region[asked[i]][k]] = priced[i][k].cost;
    if (options_.progress)
      options_.progress(
          {.phase = "price", .done = end, .total = order.size(), .refused = counts().refused, .note = {}});
  }
  return costs;
}

Result<std::vector<Cost>> Pricing::price_candidates(const CandidatePool& pool,
                                                    const std::vector<std::size_t>& candidates,
                                                    const MeasureLimits& limits) {
  std::map<std::uint32_t, std::vector<std::size_t>> by_region;
  for (std::size_t i = 0; i < candidates.size(); ++i) by_region[pool.candidates[candidates[i]].region].push_back(i);
  std::vector<PriceRequest> requests;
  for (const auto& [region, places] : by_region) {
    PriceRequest request{.region = pool.regions[region], .candidates = {}};
    for (const std::size_t i : places)
      request.candidates.push_back(spec_of(request.region, pool.candidates[candidates[i]]));
    requests.push_back(std::move(request));
  }
  COLLAGE_TRY(const auto priced, ask(requests, limits));
  std::vector<Cost> costs(candidates.size());
  std::size_t r = 0;
  for (const auto& [region, places] : by_region) {
    for (std::size_t k = 0; k < places.size(); ++k) costs[places[k]] = priced[r][k].cost;
    ++r;
  }
  return costs;
}

Result<std::vector<Cost>> Pricing::price_variants(const Region& region, const std::string& backend,
                                                  const std::vector<Variant>& variants, const MeasureLimits& limits) {
  PriceRequest request{.region = region, .candidates = {}};
  for (const Variant& variant : variants)
    request.candidates.push_back({.backend = backend, .variant = variant, .labels = labels_of(region, region.matches)});
  COLLAGE_TRY(const auto priced, ask({request}, limits));
  std::vector<Cost> costs;
  for (const PricedCandidate& one : priced.front()) costs.push_back(one.cost);
  return costs;
}

Result<std::vector<Cost>> Pricing::price_lazily(CoverRequest request, CostBounds& bounds, const MeasureLimits& limits) {
  request.conversions = boundary_table();
  const CandidatePool& pool = *request.pool;
  LazyMeasuring measuring;
  measuring.candidates = [&](const std::vector<std::size_t>& asked) { return price_candidates(pool, asked, limits); };
  measuring.conversions = [&](const std::vector<NamedCover>& covers) { return price_conversions(covers, limits); };
  std::ranges::remove_copy_if(request.backends, std::back_inserter(measuring.quick), [this](const std::string& name) {
    const auto backend = registry_.get(name);
    return backend && (*backend)->info().is_compiler;
  });
  if (measuring.quick.size() == request.backends.size()) measuring.quick.clear();
  measuring.most_nodes = [&] { return out_of_time(limits) ? late_nodes() : std::numeric_limits<std::size_t>::max(); };
  measuring.is_stopped = [&] { return limits.stop.stop_requested(); };
  measuring.is_over = [&] { return is_over(limits); };
  measuring.progress = [&](std::size_t measured) {
    if (options_.progress)
      options_.progress({.phase = "price",
                         .done = measured,
                         .total = pool.candidates.size(),
                         .refused = counts().refused,
                         .note = {}});
  };
  return collage::price_lazily(std::move(request), bounds, measuring);
}

std::vector<std::string> Pricing::converters_of(const Place& from, const Place& to) const {
  if (from.location != to.location) {
    if (from.format != to.format || (from.location != kHome && to.location != kHome)) return {};
    return {options_.locations.owners.at(from.location == kHome ? to.location : from.location).front()};
  }
  if (from.location != kHome) return options_.locations.owners.at(from.location);
  const std::string of_from = from.format.owner();
  const std::string of_to = to.format.owner();
  if (of_from.empty() && of_to.empty()) return options_.converters;
  if (of_from.empty()) return {of_to};
  if (of_to.empty() || of_to == of_from) return {of_from};
  return {};
}

std::optional<BoundaryChoice> Pricing::conversion(ValueId value, const Place& from, const Place& to) {
  const ValueType& type = graph_.value(value).type;
  const Key key{to_string(type), from, to};
  const auto found = conversions_.find(key);
  if (found != conversions_.end()) return found->second;
  std::optional<BoundaryChoice> choice;
  const std::vector<std::string> converters = converters_of(from, to);
  if (from.location == to.location && type.is_static() && same_bytes(type, from.format, to.format)) {
    choice = {.backend = kHostBackend, .cost = Measured{.median_ns = 0, .low_ns = 0, .high_ns = 0, .samples = 1}};
  } else if (type.is_static() && !converters.empty()) {
    const auto bytes = static_cast<std::int64_t>(byte_count(type.element, type.extents()));
    choice = {.backend = converters.front(), .cost = Estimated{kConversionFixedNs + 2 * bytes / kConversionBytesPerNs}};
  }
  return conversions_.emplace(key, std::move(choice)).first->second;
}

Result<std::size_t> Pricing::price_conversions(const std::vector<NamedCover>& covers, const MeasureLimits& limits) {
  std::set<Key> wanted;
  std::vector<ConversionRequest> requests;
  if (is_over(limits)) return 0U;
  for (const NamedCover& cover : covers)
    for (const CoverStep& step : cover.result.cover.steps) {
      const auto move = move_of(step);
      if (!move || !std::holds_alternative<Estimated>(step.cost)) continue;
      const Conversion conversion = conversion_of(*move);
      const auto [key, is_new] = wanted.insert(key_of(conversion));
      if (is_new) requests.push_back({.conversion = conversion, .backends = converters_of(key->from, key->to)});
    }
  if (requests.empty()) return 0U;
  COLLAGE_TRY(const auto priced, pricer_->price(requests, limits));
  for (std::size_t r = 0; r < requests.size(); ++r) {
    std::optional<BoundaryChoice> best;
    for (std::size_t b = 0; b < requests[r].backends.size(); ++b) {
      const auto ns = nanoseconds_of(priced[r][b].cost);
      if (ns && (!best || *ns < *nanoseconds_of(best->cost)))
        best = {.backend = requests[r].backends[b], .cost = priced[r][b].cost};
    }
    conversions_[key_of(requests[r].conversion)] = std::move(best);
  }
  return requests.size();
}

Pricing::Key Pricing::key_of(const Conversion& conversion) {
  return {.type = to_string(conversion.type), .from = conversion.from, .to = conversion.to};
}

Conversion Pricing::conversion_of(const ValueMove& move) const {
  return {.type = graph_.value(move.value).type, .from = move.from, .to = move.to};
}

BoundaryTable Pricing::boundary_table() {
  return [this](ValueId value, const Place& from, const Place& to) { return conversion(value, from, to); };
}

std::vector<Cost> Pricing::without_broken(const CandidatePool& pool, std::vector<Cost> costs) const {
  for (std::size_t c = 0; c < costs.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    for (const Broken& broken : broken_)
      if (broken.backend == candidate.backend && broken.variant == candidate.variant &&
          broken.region == pool.regions[candidate.region])
        costs[c] = Infeasible{broken.refusal};
  }
  return costs;
}

Result<std::int64_t> Pricing::proven_bound(CoverRequest request, const CostBounds& bounds) {
  request.conversions = boundary_table();
  for (std::size_t c = 0; c < request.costs.size(); ++c)
    request.least_ns.push_back(bounds.roofline(request.pool->candidates[c].region));
  return proven_bound_ns(request);
}

CoverRequest Pricing::completed(CoverRequest request) {
  request.conversions = boundary_table();
  request.costs = without_broken(*request.pool, std::move(request.costs));
  return request;
}

Result<std::vector<NamedCover>> Pricing::search(CoverRequest incomplete, const MeasureLimits& limits) {
  const CoverRequest request = completed(std::move(incomplete));
  for (int round = 0;; ++round) {
    COLLAGE_TRY(std::vector<NamedCover> covers, covers_to_confirm(request));
    COLLAGE_TRY(const std::size_t priced, price_conversions(covers, limits));
    if (priced == 0 || round == kMostSearches || limits.stop.stop_requested()) return covers;
  }
}

Result<Pricing::Stored> Pricing::artifact_of(const std::string& backend, const CoverKernel& kernel,
                                             const ArtifactLimits& limits) {
  COLLAGE_TRY(std::optional<StoredArtifact> portable, portable_artifact_of(backend, kernel, limits));
  if (portable) return Stored(*std::move(portable));
  return pricer_->artifact_for(graph_, kernel.region, spec_of(backend, kernel), limits.stop);
}

Result<std::optional<StoredArtifact>> Pricing::portable_artifact_of(const std::string& name, const CoverKernel& kernel,
                                                                    const ArtifactLimits& limits) {
  if (!limits.portable_until) return std::nullopt;
  COLLAGE_TRY(const Backend* const backend, registry_.get(name));
  if (baseline_instance(*backend).empty()) return std::nullopt;
  std::string why = "no time left";
  if (Clock::now() < *limits.portable_until) {
    COLLAGE_TRY(Stored stored, pricer_->artifact_for(graph_, kernel.region, spec_of(name, kernel), limits.stop, true));
    if (stored) return std::optional(*std::move(stored));
    why = stored.error().detail;
  }
  unportable_.push_back(title_of(graph_, name, kernel) + ": " + why);
  return std::nullopt;
}

Result<std::vector<Artifact>> Pricing::artifacts(const Cover& cover, const ArtifactLimits& limits) {
  std::vector<Artifact> artifacts;
  for (const CoverStep& step : cover.steps) {
    if (!has_artifact(step)) {
      artifacts.emplace_back();
      continue;
    }
    if (const auto move = move_of(step)) {
      const Conversion conversion = conversion_of(*move);
      COLLAGE_TRY(auto stored, pricer_->artifact_for(conversion, step.backend, limits.stop));
      if (!stored) {
        conversions_[key_of(conversion)] = std::nullopt;
        ++broken_count_;
        return std::unexpected(no_artifact(step.backend + " conversion", stored.error()));
      }
      artifacts.push_back(std::move(stored->artifact));
      continue;
    }
    const auto& kernel = std::get<CoverKernel>(step.work);
    COLLAGE_TRY(Stored stored, artifact_of(step.backend, kernel, limits));
    if (!stored) {
      broken_.push_back({kernel.region, step.backend, kernel.variant, stored.error()});
      ++broken_count_;
      return std::unexpected(no_artifact(title_of(graph_, step.backend, kernel), stored.error()));
    }
    artifacts.push_back(std::move(stored->artifact));
  }
  return artifacts;
}

}  // namespace collage
