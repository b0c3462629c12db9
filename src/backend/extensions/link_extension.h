// Extension that links all kernels of a plan into one artifact with several entry points.
// In:  the artifacts that were measured, with their constants and ports. Out: linked artifacts, and for each kernel its
//       artifact and entry point.
// How: when a plan is written, each backend gets all its kernels in one call. A step then names the linked artifact and
//       an entry point (StepArtifact::entry). load() gets both (ArtifactView::entry) and loads what the kernels share
//       once. Nothing is compiled again, so linked kernels compute exactly what the separate artifacts do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// An artifact with several kernels.
struct LinkedArtifact {
  std::string bytes;
  std::string compatibility;
};

/// Where a kernel is.
struct EntryPoint {
  std::size_t artifact = 0;  ///< index of a linked one
  std::string name;          ///< not empty; unique in its artifact
};

struct LinkedKernels {
  std::vector<LinkedArtifact> artifacts;
  std::vector<std::optional<EntryPoint>> entries;  ///< by kernel; nothing if it keeps its own artifact
};

class LinkExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kLinking;
  /// All kernels that a plan has from this backend, one for each step. Constants, ports and workspace of a kernel stay
  /// as they are. On an error the plan keeps the artifacts as they were.
  [[nodiscard]] virtual Result<LinkedKernels> link(std::span<const LoadRequest> kernels) = 0;
};

}  // namespace collage
