// Provides the search with the costs and artifacts of candidates and conversions.
// Conversions are priced lazily: the search runs with optimistic estimates, the conversions that its covers use are
// measured, and it runs again until all of them are measured.
// In:  candidates, a deadline. Out: costs, artifacts, covers under these costs.
// Cost: what is measured; one message for each region.
// Not here: the parts it is made of, which do the work: costs of candidates (candidate_pricer.h) and of conversions
//       (conversion_costs.h), artifacts (cover_artifacts.h), what needs measuring (lazy_pricing.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/registry.h"
#include "measure/pricer.h"
#include "region/variant.h"
#include "store/store.h"
#include "tune/price/candidate_pricer.h"
#include "tune/price/conversion_costs.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/cover_artifacts.h"
#include "tune/price/covers.h"
#include "tune/price/pricing_options.h"

namespace collage {

struct LazyPrices {
  std::vector<Cost> costs;  ///< by candidate; unknown for what decides nothing
  std::vector<std::size_t>
      asked;  ///< candidates in the order in which they were priced; again when timed after a sample
  /// The part of the best cover's cost that candidates saved of which nothing was known when half of the time was over.
  std::optional<double> second_half_gain = std::nullopt;
};

/// One thread. Graph, registry and store outlive it.
class Pricing {
 public:
  Pricing(PricingOptions options, const Graph& graph, Registry& registry, Store& store);

  /// By candidate of the pool; unknown for what the deadline or a stop left over. Costs in `known`, by candidate too,
  /// stay as they are; none for an empty one.
  [[nodiscard]] Result<std::vector<Cost>> price(const CandidatePool& pool, const MeasureLimits& limits,
                                                std::vector<Cost> known = {});
  /// The same, measuring only what decides which covers are best as far as `bounds` can tell (lazy_pricing.h). Known
  /// are request.costs.
  [[nodiscard]] Result<LazyPrices> price_lazily(CoverRequest request, CostBounds& bounds, const MeasureLimits& limits);
  /// One cost for each of these candidates of the pool.
  [[nodiscard]] Result<std::vector<Cost>> price_some(const CandidatePool& pool,
                                                     const std::vector<std::size_t>& candidates, Effort effort,
                                                     const MeasureLimits& limits) {
    return candidates_.price_some(pool, candidates, effort, limits);
  }
  /// covers_to_confirm with every conversion used measured; request.conversions is set here.
  [[nodiscard]] Result<std::vector<NamedCover>> search(CoverRequest request, const MeasureLimits& limits);
  /// The best cover alone, under the conversions as far as they are known.
  [[nodiscard]] Result<SearchResult> best(CoverRequest request);
  /// The same with every conversion used measured, as far as there is time.
  [[nodiscard]] Result<SearchResult> best_measured(const CoverRequest& request, const MeasureLimits& limits);
  /// The request as search() takes it: with the conversions as far as they are known, else estimated, and without the
  /// candidates that artifacts() found not to work. Valid as long as this object.
  [[nodiscard]] CoverRequest completed(CoverRequest request);
  /// proven_bound_ns under the conversions known so far, with rooflines for what was not measured.
  [[nodiscard]] Result<std::int64_t> proven_bound(CoverRequest request, const CostBounds& bounds);
  /// One artifact for each step, for exactly these weights; an empty one where has_artifact() is false.
  /// Error tune/no-artifact when a candidate does not work with the weights of its place; search() does not use it any
  /// more. If there is no portable artifact, the usual one is used and unportable() gets a line.
  [[nodiscard]] Result<std::vector<Artifact>> artifacts(const Cover& cover, const ArtifactLimits& limits = {});

  /// Kernels without code for processors with fewer instructions, and why.
  [[nodiscard]] const std::vector<std::string>& unportable() const { return artifacts_.unportable(); }

  /// What conversions are known to cost so far, estimates for the others. Lives no longer than this object.
  [[nodiscard]] BoundaryTable boundary_table();
  /// `costs` with the candidates that artifacts() found not to work as refused.
  [[nodiscard]] std::vector<Cost> without_broken(const CandidatePool& pool, std::vector<Cost> costs) const {
    return artifacts_.without_broken(pool, std::move(costs));
  }

  /// `costs` without the candidates that may round too much, as artifacts() found of others.
  [[nodiscard]] std::vector<Cost> without_rounding(const CandidatePool& pool, std::vector<Cost> costs) const {
    return artifacts_.without_rounding(pool, std::move(costs));
  }
  /// Nodes at which artifacts() found that one operator in 16 bits rounds too much.
  [[nodiscard]] NodeSet rounding_nodes(const CandidatePool& pool) const { return artifacts_.rounding_nodes(pool); }

  /// Measures these variants of one region, for the backend; one cost each. What the store knows is not measured again.
  [[nodiscard]] Result<std::vector<Cost>> price_variants(const Region& region, const std::string& backend,
                                                         const std::vector<Variant>& variants,
                                                         const MeasureLimits& limits);

  /// Candidates and conversions that artifacts() found not to work so far.
  [[nodiscard]] std::size_t broken_count() const { return artifacts_.broken_count(); }

  [[nodiscard]] const PriceCounts& counts() const { return pricer_->counts(); }
  /// What its costs depend on beside the region and the candidate.
  [[nodiscard]] const MeasureContext& context() const { return pricer_->context(); }
  /// The canary's, as far as known (timing/canary.h).
  [[nodiscard]] std::int64_t quiet_ns() const { return pricer_->quiet_ns(); }

 private:
  using FindCovers = std::function<Result<std::vector<NamedCover>>()>;

  /// Finds again until every conversion that the covers use is measured.
  [[nodiscard]] Result<std::vector<NamedCover>> until_measured(const FindCovers& find, const MeasureLimits& limits);

  Registry& registry_;
  bool free_borders_;
  std::unique_ptr<Pricer> pricer_;  ///< apart, so that its address stays when this is moved: members refer to it
  CandidatePricer candidates_;
  ConversionCosts conversions_;
  CoverArtifacts artifacts_;
};

}  // namespace collage
