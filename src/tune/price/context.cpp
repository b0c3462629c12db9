#include "tune/price/context.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "region/weight_bytes.h"

namespace collage {
namespace {

constexpr double kLeastFactor = 0.5;
constexpr double kMostFactor = 3.0;
/// Weights below this stay in the nearest caches; above, a class for each factor of four.
constexpr std::size_t kSmallWeights = std::size_t{64} << 10;

int size_class(std::size_t bytes) {
  return bytes < kSmallWeights ? 0 : (std::bit_width(bytes / kSmallWeights) + 1) / 2;
}

}  // namespace

std::vector<std::string> context_classes(const Graph& graph, const Region& region, const std::string& backend,
                                         const std::string& variant) {
  const int size = size_class(static_cast<std::size_t>(weight_bytes(graph, region)));
  return {fmt::format("{}/{}/{}", backend, variant, size), fmt::format("{}//{}", backend, size), backend};
}

double factor_of(const Corrections& corrections, const std::vector<std::string>& classes) {
  for (const std::string& name : classes)
    if (const auto found = corrections.find(name); found != corrections.end()) return found->second;
  return 1.0;
}

std::vector<Cost> corrected_costs(const Graph& graph, const CandidatePool& pool, std::vector<Cost> costs,
                                  const Corrections& corrections) {
  if (corrections.empty()) return costs;
  for (std::size_t c = 0; c < costs.size(); ++c) {
    auto* measured = std::get_if<Measured>(&costs[c]);
    if (!measured) continue;
    const Candidate& candidate = pool.candidates[c];
    const double factor = factor_of(
        corrections, context_classes(graph, pool.regions[candidate.region], candidate.backend, candidate.variant.name));
    for (std::int64_t* ns : {&measured->median_ns, &measured->low_ns, &measured->high_ns})
      *ns = static_cast<std::int64_t>(static_cast<double>(*ns) * factor);
  }
  return costs;
}

Corrections learn_corrections(const Graph& graph, const std::vector<TimedCover>& covers) {
  struct Sum {
    double in_plans = 0;
    double alone = 0;
  };
  std::map<std::string, Sum> sums;
  for (const TimedCover& timed : covers) {
    const std::vector<CoverStep>& steps = timed.cover->steps;
    for (std::size_t s = 0; s < std::min(steps.size(), timed.step_ns.size()); ++s) {
      const auto* alone = std::get_if<Measured>(&steps[s].cost);
      const auto* const kernel = std::get_if<CoverKernel>(&steps[s].work);
      if (kernel == nullptr || !alone) continue;
      const auto classes = context_classes(graph, kernel->region, steps[s].backend, kernel->variant.name);
      for (const std::string& name : classes) {
        sums[name].in_plans += static_cast<double>(timed.step_ns[s]);
        sums[name].alone += static_cast<double>(alone->median_ns) / factor_of(timed.applied, classes);
      }
    }
  }
  Corrections corrections;
  for (const auto& [name, sum] : sums)
    if (sum.alone > 0) corrections[name] = std::clamp(sum.in_plans / sum.alone, kLeastFactor, kMostFactor);
  return corrections;
}

}  // namespace collage
