// Reading costs.
#include "region/cost.h"

namespace collage {

bool is_sampled(const Cost& cost) {
  const auto* const estimated = std::get_if<Estimated>(&cost);
  return estimated != nullptr && estimated->is_sampled;
}

std::optional<std::int64_t> nanoseconds_of(const Cost& cost) {
  if (const auto* measured = std::get_if<Measured>(&cost)) return measured->median_ns;
  if (const auto* estimated = std::get_if<Estimated>(&cost)) return estimated->ns;
  return std::nullopt;
}

}  // namespace collage
