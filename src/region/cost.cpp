// Reading costs.
#include "region/cost.h"

namespace collage {

std::optional<std::int64_t> nanoseconds_of(const Cost& cost) {
  if (const auto* measured = std::get_if<Measured>(&cost)) return measured->median_ns;
  if (const auto* estimated = std::get_if<Estimated>(&cost)) return estimated->ns;
  return std::nullopt;
}

}  // namespace collage
