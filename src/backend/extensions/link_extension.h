// The kernels of one plan, linked into one artifact with several entry points.
// In: the artifacts that were measured, with constants and ports. Out: linked artifacts, and which kernel is where.
// How: when a plan is written, each backend gets all its kernels in one call. A step then names the linked artifact and
//      the entry point (StepArtifact::entry), load() gets both (ArtifactView::entry), and loads what the kernels share
//      once. Linked kernels compute the same numbers as the artifacts alone: nothing is compiled again.
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
  std::string name;          ///< not empty; different from those of other kernels in the same artifact
};

struct LinkedKernels {
  std::vector<LinkedArtifact> artifacts;
  std::vector<std::optional<EntryPoint>> entries;  ///< by kernel; nothing: it stays the artifact that it was
};

class LinkExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kLinking;
  /// All kernels that a plan has from this backend, one for each step. Constants, ports and workspace of a kernel stay
  /// as they are. On an error the plan keeps the artifacts as they were.
  [[nodiscard]] virtual Result<LinkedKernels> link(std::span<const LoadRequest> kernels) = 0;
};

}  // namespace collage
