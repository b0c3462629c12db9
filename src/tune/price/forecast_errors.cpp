#include "tune/price/forecast_errors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

namespace collage {
namespace {

constexpr double kPriorCount = 2;
/// What a surprise weighs at the next one: the first ones come from effects that the model then learns.
constexpr double kMemory = 0.95;
constexpr double kMostSurprise = 3;
constexpr double kMost = 1.5;

}  // namespace

void ForecastErrors::Seen::add(double below) {
  count = kMemory * count + 1;
  squares = kMemory * squares + 2 * below * below;  // half of what would be seen on both sides
}

void ForecastErrors::add(const std::string& backend, double surprise) {
  latest_[backend].push_back(std::clamp(surprise, -kMostSurprise, kMostSurprise));
}

void ForecastErrors::fit() {
  for (const auto& [backend, surprises] : latest_) {
    const double sum = std::accumulate(surprises.begin(), surprises.end(), 0.0);
    const double common = std::min(sum / static_cast<double>(surprises.size()), 0.0);
    Seen& seen = seen_[backend];
    if (common < 0) seen.add(-common);
    // The mean takes the place of one of them: what is around it sums to zero, so one says nothing new.
    for (const double surprise : surprises | std::views::drop(common < 0 ? 1 : 0))
      seen.add(std::max(common - surprise, 0.0));
  }
  latest_.clear();
}

double ForecastErrors::factor(const std::string& backend) const {
  const auto found = seen_.find(backend);
  if (found == seen_.end()) return 1;
  const Seen& seen = found->second;
  return std::min(std::sqrt((kPriorCount + seen.squares) / (kPriorCount + seen.count)), kMost);
}

}  // namespace collage
