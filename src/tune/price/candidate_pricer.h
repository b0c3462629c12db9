// Measures candidates of one graph: all of a pool, some of them, or variants of one region.
// In:  candidates, a deadline. Out: one cost each; unknown for what the deadline or a stop left over.
// How: one request to the pricer for each region, a few regions at once; between them the deadline is looked at.
// Cost: what is measured; one message for each region.
// Not here: which candidates need measuring (lazy_pricing.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "measure/pricer.h"
#include "region/candidates.h"
#include "region/variant.h"
#include "tune/price/pricing_options.h"

namespace collage {

class CandidatePricer {
 public:
  /// Graph and pricer outlive it.
  CandidatePricer(const PricingOptions& options, const Graph& graph, Pricer& pricer);

  /// By candidate of the pool. Costs in `known`, by candidate too, stay as they are; none for an empty one.
  [[nodiscard]] Result<std::vector<Cost>> price(const CandidatePool& pool, const MeasureLimits& limits,
                                                std::vector<Cost> known);
  /// These candidates of the pool, region by region, whatever the deadline; one cost each, sampled where that is the
  /// effort.
  [[nodiscard]] Result<std::vector<Cost>> price_some(const CandidatePool& pool,
                                                     const std::vector<std::size_t>& candidates, Effort effort,
                                                     const MeasureLimits& limits);
  /// One cost for each variant.
  [[nodiscard]] Result<std::vector<Cost>> price_variants(const Region& region, const std::string& backend,
                                                         const std::vector<Variant>& variants,
                                                         const MeasureLimits& limits);

  /// The size of the largest regions that may be measured now.
  [[nodiscard]] std::size_t most_nodes(const MeasureLimits& limits) const;
  void report_progress(std::size_t done, std::size_t total) const;

 private:
  /// By request and candidate.
  [[nodiscard]] Result<std::vector<std::vector<PricedCandidate>>> ask(const std::vector<PriceRequest>& requests,
                                                                      const MeasureLimits& limits,
                                                                      Effort effort = Effort::kTime);
  /// The open candidates of these regions, where they may be measured now; `open` is by region of the pool.
  [[nodiscard]] Result<void> price_regions(const CandidatePool& pool, std::span<const std::size_t> regions,
                                           const std::vector<std::vector<std::size_t>>& open,
                                           const MeasureLimits& limits, std::vector<Cost>& costs);

  const Graph& graph_;
  Pricer& pricer_;
  bool backends_apart_;
  bool always_covers_;
  Progress progress_;
};

}  // namespace collage
