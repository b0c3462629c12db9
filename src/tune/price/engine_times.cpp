#include "tune/price/engine_times.h"

#include <algorithm>

#include "region/narrow_variant.h"

namespace collage {
namespace {

/// Computes as the engine does with the user's model.
bool is_usual(const Variant& variant) {
  return !has_16_bits(variant) && std::ranges::all_of(variant.input_formats, &Format::is_plain) &&
         std::ranges::all_of(variant.output_formats, &Format::is_plain);
}

}  // namespace

void take_engine_times(const Graph& graph, const CandidatePool& pool, const EngineTimes& times,
                       std::vector<Cost>& costs) {
  for (std::size_t c = 0; c < costs.size(); ++c) {
    const Candidate& candidate = pool.candidates[c];
    const auto time = times.find(candidate.backend);
    const bool is_whole = pool.regions[candidate.region].nodes.count() == graph.nodes.size();
    if (time != times.end() && is_whole && is_usual(candidate.variant) && std::holds_alternative<Unknown>(costs[c]))
      costs[c] = Measured{.median_ns = time->second, .low_ns = time->second, .high_ns = time->second, .samples = 1};
  }
}

}  // namespace collage
