// The standard normal distribution.
#pragma once

#include <cmath>
#include <numbers>

namespace collage {

[[nodiscard]] inline double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
[[nodiscard]] inline double normal_probability_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

}  // namespace collage
