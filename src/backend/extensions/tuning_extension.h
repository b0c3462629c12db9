// Extension that gives the settings of a variant (tile sizes, unrolling) as a space for the schedule search.
#pragma once

#include <optional>

#include "backend/backend.h"
#include "backend/strategy.h"

namespace collage {

class TuningExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kTuning;
  /// All settings of the implementation behind a variant that support() offers; nothing where there are none to tune.
  [[nodiscard]] virtual std::optional<TuningSpace> tuning_space(const Graph& graph, const Region& region,
                                                                const Variant& variant,
                                                                const CompileOptions& options) const = 0;
};

/// As TuningExtension::tuning_space; nothing without the extension.
[[nodiscard]] inline std::optional<TuningSpace> tuning_space(const Backend& backend, const Graph& graph,
                                                             const Region& region, const Variant& variant,
                                                             const CompileOptions& options) {
  const auto* const tuning = extension_of<TuningExtension>(backend);
  return tuning != nullptr ? tuning->tuning_space(graph, region, variant, options) : std::nullopt;
}

}  // namespace collage
