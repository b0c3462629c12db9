// Extension for backends whose kernels can be linked into a library that holds one model and loads nothing
// (src/export). In:  an artifact of a plan. Out: the artifact as that library carries it, and the object files that it
// needs there. The backend itself is part of that library too, compiled without its compiler and without the dynamic
// loader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// Machine code that is linked together, under names that only its artifact uses.
struct LinkedCode {
  std::string name;                       ///< by which load() asks for it
  std::vector<std::string> symbols;       ///< that load() looks up in it; the same symbol may be in other codes
  std::vector<std::string_view> objects;  ///< ELF object files, inside the bytes of the artifact
};

struct ExportedArtifact {
  std::string bytes;             ///< takes the place of the artifact's
  std::vector<LinkedCode> code;  ///< none: the bytes are all it needs
};

class ExportExtension : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kExport;
  /// Names in the result begin with `prefix`, which no other artifact of the library has. The compatibility string
  /// stays. Error export/not-linkable when it needs a library, or has no object files; those of load() when it is no
  /// artifact of this build.
  [[nodiscard]] virtual Result<ExportedArtifact> exported(const ArtifactView& artifact,
                                                          const std::string& prefix) const = 0;
};

}  // namespace collage
