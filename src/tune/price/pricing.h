// Provides the search with the costs and artifacts of candidates and conversions.
// Conversions are priced lazily: the search runs with optimistic estimates, the conversions that its covers use are
// measured, and it runs again until all of them are measured.
// In:  candidates, a deadline. Out: costs, artifacts, covers under these costs.
// Cost: what is measured; one message for each region.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/progress.h"
#include "measure/pricer.h"
#include "region/variant.h"
#include "store/store.h"
#include "tune/locations.h"
#include "tune/price/cost_bounds.h"
#include "tune/price/covers.h"

namespace collage {

struct PricingOptions {
  MeasureOptions measure;
  MeasuredGraph files;
  /// Some backends cannot run in one process with others: each is asked in a worker of its own.
  bool backends_apart = false;
  std::vector<std::string> converters;  ///< instances asked for conversions between the common formats at home
  Locations locations;                  ///< of backends elsewhere, who also move and convert values there
  bool always_covers = true;            ///< single operators are priced after the deadline too, so that a cover exists
  Progress progress;
  ReproKeeper* repros = nullptr;  ///< told of failures; outlives the pricing
};

/// Which artifacts are made, and until when.
struct ArtifactLimits {
  std::stop_token stop = {};
  /// Until then those that also hold code for processors with fewer instructions, where backends have such code;
  /// nothing: the usual ones.
  std::optional<Clock::time_point> portable_until = std::nullopt;
};

/// One thread. Graph, registry and store outlive it.
class Pricing {
 public:
  Pricing(PricingOptions options, const Graph& graph, Registry& registry, Store& store);

  /// By candidate of the pool; unknown for what the deadline or a stop left over. Costs in `known`, by candidate too,
  /// stay as they are; none for an empty one.
  [[nodiscard]] Result<std::vector<Cost>> price(const CandidatePool& pool, const MeasureLimits& limits,
                                                std::vector<Cost> known = {});
  /// The same, measuring only what decides which covers are best as far as `bounds` can tell (lazy_pricing.h); unknown
  /// for the rest. Known are request.costs.
  [[nodiscard]] Result<std::vector<Cost>> price_lazily(CoverRequest request, CostBounds& bounds,
                                                       const MeasureLimits& limits);
  /// covers_to_confirm with every conversion used measured; request.conversions is set here.
  [[nodiscard]] Result<std::vector<NamedCover>> search(CoverRequest request, const MeasureLimits& limits);
  /// The best cover alone, under the conversions as far as they are known.
  [[nodiscard]] Result<SearchResult> best(CoverRequest request);
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
  [[nodiscard]] const std::vector<std::string>& unportable() const { return unportable_; }

  /// What conversions are known to cost so far, estimates for the others. Lives no longer than this object.
  [[nodiscard]] BoundaryTable boundary_table();
  /// `costs` with the candidates that artifacts() found not to work as refused.
  [[nodiscard]] std::vector<Cost> without_broken(const CandidatePool& pool, std::vector<Cost> costs) const;

  /// Measures these variants of one region, for the backend; one cost each. What the store knows is not measured again.
  [[nodiscard]] Result<std::vector<Cost>> price_variants(const Region& region, const std::string& backend,
                                                         const std::vector<Variant>& variants,
                                                         const MeasureLimits& limits);

  /// Candidates and conversions that artifacts() found not to work so far.
  [[nodiscard]] std::size_t broken_count() const { return broken_count_; }

  [[nodiscard]] const PriceCounts& counts() const { return pricer_->counts(); }
  /// What its costs depend on beside the region and the candidate.
  [[nodiscard]] const MeasureContext& context() const { return pricer_->context(); }
  /// The canary's, as far as known (timing/canary.h).
  [[nodiscard]] std::int64_t quiet_ns() const { return pricer_->quiet_ns(); }

 private:
  struct Key {
    std::string type;
    Place from;
    Place to;
    auto operator<=>(const Key&) const = default;
  };
  /// A candidate that was measured and yet does not work where it is needed.
  struct Broken {
    Region region;
    std::string backend;
    Variant variant;
    Refusal refusal;
  };

  using Stored = std::expected<StoredArtifact, Refusal>;
  [[nodiscard]] Result<Stored> artifact_of(const std::string& backend, const CoverKernel& kernel,
                                           const ArtifactLimits& limits);
  /// Nothing when it has no portable one.
  [[nodiscard]] Result<std::optional<StoredArtifact>> portable_artifact_of(const std::string& name,
                                                                           const CoverKernel& kernel,
                                                                           const ArtifactLimits& limits);
  [[nodiscard]] std::optional<BoundaryChoice> conversion(ValueId value, const Place& from, const Place& to);
  [[nodiscard]] std::vector<std::string> converters_of(const Place& from, const Place& to) const;
  [[nodiscard]] static Key key_of(const Conversion& conversion);
  [[nodiscard]] Conversion conversion_of(const ValueMove& move) const;
  /// Measures the estimated conversions and transfers of the covers; how many there were.
  [[nodiscard]] Result<std::size_t> price_conversions(const std::vector<NamedCover>& covers,
                                                      const MeasureLimits& limits);
  /// By request and candidate.
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> ask(const std::vector<PriceRequest>& requests,
                                                                      const MeasureLimits& limits);
  /// Regions of at most so many nodes are measured after the deadline.
  [[nodiscard]] std::size_t late_nodes() const { return options_.always_covers ? 1 : 0; }
  /// Measures these candidates of the pool, region by region; one cost each.
  [[nodiscard]] Result<std::vector<Cost>> price_candidates(const CandidatePool& pool,
                                                           const std::vector<std::size_t>& candidates,
                                                           const MeasureLimits& limits);

  PricingOptions options_;
  const Graph& graph_;
  Registry& registry_;
  std::vector<std::string> unportable_;
  std::unique_ptr<Pricer> pricer_;
  std::map<Key, std::optional<BoundaryChoice>> conversions_;
  std::vector<Broken> broken_;
  std::size_t broken_count_ = 0;
};

}  // namespace collage
