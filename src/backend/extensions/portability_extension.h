// Extension for artifacts with code for several instruction sets, so that a plan also runs on older processors.
#pragma once

#include <string>
#include <string_view>

#include "backend/backend.h"

namespace collage {

class PortabilityExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kPortability;
  /// Name of the instance that runs the fallback code of portable artifacts (CompileOptions::portable), as a processor
  /// with the baseline instruction set would; empty when artifacts hold no fallback.
  [[nodiscard]] virtual std::string baseline_instance() const = 0;
  /// What load() would say here to an artifact with this compatibility string, without its bytes: empty, how the
  /// kernels differ from those that were measured ("kernels for avx2 instead of avx512"), or its error.
  [[nodiscard]] virtual Result<std::string> judge(std::string_view compatibility) const = 0;
};

/// As PortabilityExtension::baseline_instance; empty without the extension.
[[nodiscard]] inline std::string baseline_instance(const Backend& backend) {
  const auto* const portability = extension_of<PortabilityExtension>(backend);
  return portability != nullptr ? portability->baseline_instance() : std::string();
}

/// As PortabilityExtension::judge; empty without the extension.
[[nodiscard]] inline Result<std::string> judge_artifact(const Backend& backend, std::string_view compatibility) {
  const auto* const portability = extension_of<PortabilityExtension>(backend);
  return portability != nullptr ? portability->judge(compatibility) : std::string();
}

}  // namespace collage
