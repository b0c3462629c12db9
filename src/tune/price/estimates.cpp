#include "tune/price/estimates.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace collage {
namespace {

/// Longer than any kernel that anybody would wait for: an hour.
constexpr double kMostNs = 3.6e12;

Result<std::optional<double>> estimate_of(const Estimator& estimator, const Graph& graph, const CandidatePool& pool,
                                          const Candidate& candidate) {
  if (candidate.variant.name == "view") return std::nullopt;
  COLLAGE_TRY(const std::optional<double> ns, estimator(graph, region_of(pool, candidate), candidate));
  // Also false for NaN.
  if (!ns || (*ns > 0 && *ns <= kMostNs)) return ns;
  return fail(ExitCode::kUsage, "tune/bad-estimate", candidate.backend + "/" + candidate.variant.name,
              fmt::format("{} us", *ns / 1000), "more than 0 and at most an hour");
}

}  // namespace

Result<Estimates> estimates_of(const EstimateOptions& options, const Graph& graph, const CandidatePool& pool) {
  Estimates estimates;
  if (!options.estimator) return estimates;
  estimates.reserve(pool.candidates.size());
  for (const Candidate& candidate : pool.candidates) {
    COLLAGE_TRY(const std::optional<double> ns, estimate_of(options.estimator, graph, pool, candidate));
    estimates.push_back(ns);
  }
  return estimates;
}

std::vector<Cost> with_estimates(const EstimateOptions& options, const Estimates& estimates, std::vector<Cost> costs) {
  if (!options.stand_for_costs() || estimates.empty()) return costs;
  costs.resize(estimates.size(), Unknown{});
  for (std::size_t c = 0; c < estimates.size(); ++c)
    if (estimates[c] && std::holds_alternative<Unknown>(costs[c]))
      costs[c] = Estimated{.ns = std::max<std::int64_t>(1, std::llround(*estimates[c]))};
  return costs;
}

}  // namespace collage
