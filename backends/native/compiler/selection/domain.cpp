#include "compiler/selection/domain.h"

namespace collage::native {

std::optional<std::string> misfit_in(const Facts& facts, std::span<const Domain> domains) {
  for (const Domain& domain : domains) {
    const auto found = facts.find(domain.fact);
    if (found == facts.end()) return std::string(domain.fact) + " is missing";
    if (found->second < domain.low || found->second > domain.high)
      return std::string(domain.fact) + " = " + std::to_string(found->second);
  }
  return std::nullopt;
}

}  // namespace collage::native
