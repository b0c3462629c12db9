// Makes an artifact ready for a library that holds one model (src/export): its machine code is linked into that
// library, where load() finds it by name (linked/linked_object.cpp) instead of opening a shared object. In:  the
// artifact of a kernel or a unit. Out: the same programs with a name in place of each shared object, and the
//       object files behind each name.
#pragma once

#include "backend/extensions/export_extension.h"

namespace collage::native {

/// Errors as of ExportExtension::exported().
[[nodiscard]] Result<ExportedArtifact> export_kernels(const ArtifactView& artifact, const std::string& prefix);

}  // namespace collage::native
