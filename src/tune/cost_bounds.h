// What a candidate that was not measured costs at least, as far as is known: the roofline, times how far above it the
// nearest candidates of its kind were.
// In: measured costs as they come. Out: lower bounds that lead a lazy search to what is worth measuring.
// Not proofs: a kind may hold a candidate that is nearer the roofline than any seen, which is why the factor kept is
// the least seen, less a margin. The roofline alone is the bound that holds.
// Cost: two look-ups for a bound.
// Source: ours; the roofline is that of measure/roofline.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/cost.h"
#include "measure/roofline.h"
#include "region/candidates.h"

namespace collage {

class CostBounds {
 public:
  CostBounds(const Graph& graph, const CandidatePool& pool, Accuracy accuracy, const PeakRates& peak, int threads);

  /// The roofline of a candidate's region.
  [[nodiscard]] std::int64_t roofline(std::size_t candidate) const { return roofline_[region_of(candidate)]; }
  [[nodiscard]] std::int64_t bound(std::size_t candidate) const;
  /// Of a candidate; costs that are not measured teach nothing.
  void learn(std::size_t candidate, const Cost& cost);

 private:
  [[nodiscard]] std::size_t region_of(std::size_t candidate) const { return pool_.candidates[candidate].region; }
  /// Narrow kinds first.
  [[nodiscard]] std::vector<std::string> kinds_of(std::size_t candidate) const;

  const CandidatePool& pool_;
  std::vector<std::int64_t> roofline_;    ///< by region
  std::vector<std::string> signature_;    ///< by region: its operators and size
  std::map<std::string, double> factor_;  ///< by kind: least time over roofline
};

}  // namespace collage
