#include "tune/price/price_apart.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace collage {
namespace {

/// What one backend is asked.
struct OneBackend {
  std::vector<PriceRequest> requests;            ///< all of them, with the candidates of this backend alone
  std::vector<std::vector<std::size_t>> places;  ///< by request: where these candidates were among all
};

std::set<std::string> backends_asked(std::span<const PriceRequest> requests) {
  std::set<std::string> names;
  for (const PriceRequest& request : requests)
    for (const CandidateSpec& candidate : request.candidates) names.insert(candidate.backend);
  return names;
}

OneBackend only_of(const std::string& name, std::span<const PriceRequest> requests) {
  OneBackend own;
  for (const PriceRequest& request : requests) {
    own.requests.push_back({.region = request.region, .candidates = {}});
    own.places.emplace_back();
    for (std::size_t c = 0; c < request.candidates.size(); ++c)
      if (request.candidates[c].backend == name) {
        own.requests.back().candidates.push_back(request.candidates[c]);
        own.places.back().push_back(c);
      }
  }
  return own;
}

}  // namespace

Result<std::vector<std::vector<PricedCandidate>>> price_apart(Pricer& pricer, const Graph& graph,
                                                              std::span<const PriceRequest> requests,
                                                              const MeasureLimits& limits, Effort effort) {
  std::vector<std::vector<PricedCandidate>> answers;
  for (const PriceRequest& request : requests) answers.emplace_back(request.candidates.size());
  for (const std::string& name : backends_asked(requests)) {
    const OneBackend own = only_of(name, requests);
    pricer.leave_workers();
    COLLAGE_TRY(auto priced, pricer.price(graph, own.requests, limits, effort));
    for (std::size_t r = 0; r < own.places.size(); ++r)
      for (std::size_t c = 0; c < own.places[r].size(); ++c) answers[r][own.places[r][c]] = std::move(priced[r][c]);
  }
  pricer.leave_workers();
  return answers;
}

}  // namespace collage
