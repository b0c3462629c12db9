// Extension that lists a backend's implementations, for `collage strategies`.
#pragma once

#include <vector>

#include "backend/backend.h"
#include "backend/strategy.h"

namespace collage {

class StrategyExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kStrategies;
  [[nodiscard]] virtual Result<std::vector<StrategyLine>> strategies() const = 0;
};

/// As StrategyExtension::strategies; empty without the extension.
[[nodiscard]] inline Result<std::vector<StrategyLine>> strategies(const Backend& backend) {
  const auto* const lists = extension_of<StrategyExtension>(backend);
  if (lists == nullptr) return std::vector<StrategyLine>{};
  return lists->strategies();
}

}  // namespace collage
