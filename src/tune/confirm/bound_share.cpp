#include "tune/confirm/bound_share.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json_numbers.h"

namespace collage {
namespace {

/// Outputs may take this share of the bound whatever the sets say of one another.
constexpr double kMostOfBound = 0.8;
/// So many sets tell how much sets differ: of four from a normal distribution the largest lies two standard deviations
/// above the least, so that twice their difference above the largest is five above the mean.
constexpr std::size_t kTellingSets = 4;
constexpr double kRanges = 2;
/// Of the bound, however much the sets agree.
constexpr double kLeastReserve = 0.05;

}  // namespace

void BoundShare::add(double share_of_set) {
  largest = sets == 0 ? share_of_set : std::max(largest, share_of_set);
  least = sets == 0 ? share_of_set : std::min(least, share_of_set);
  ++sets;
}

double BoundShare::foreseen() const {
  if (!std::isfinite(largest)) return largest;
  const double usual = largest / kMostOfBound;
  if (sets < kTellingSets) return usual;
  return std::min(usual, largest + std::max(kLeastReserve, kRanges * (largest - least)));
}

double share_in(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

}  // namespace collage
