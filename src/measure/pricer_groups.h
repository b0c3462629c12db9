// Shared by measuring candidates (pricer.cpp) and making their artifacts (pricer_artifacts.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "measure/pricer.h"

namespace collage {

/// What conversions count as among the kinds of operators.
inline constexpr const char* kConversion = "conversion";

inline std::vector<std::uint32_t> indices_of(const NodeSet& nodes) {
  std::vector<std::uint32_t> indices;
  for (const std::size_t node : nodes.members()) indices.push_back(static_cast<std::uint32_t>(node));
  return indices;
}

/// What every death of a worker before the first sign of life costs: reading the graph, loading modules.
inline Allowance allowance_of(const PricerOptions& options) {
  const MeasureOptions& measure = options.measure;
  return usual_allowance(measure.compile_limit, measure.compile_limit, measure.run_limit);
}

}  // namespace collage
