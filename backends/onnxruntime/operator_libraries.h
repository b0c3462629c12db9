// Which libraries of custom operators a session needs. An artifact with such operators names the libraries, each with
// its hash, and is loaded with exactly these: a library is code, and another one may compute something else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/extensions/operator_library.h"
#include "backends/common/engine/engine_artifact.h"

namespace collage {

[[nodiscard]] std::vector<std::string> paths_of(std::span<const OperatorLibrary> libraries);

/// Some node of the region, also one of a body, is of a vendor's domain.
[[nodiscard]] bool has_vendor_operators(const CompileRequest& request);

/// Names the libraries in the artifact.
void add_libraries(std::span<const OperatorLibrary> libraries, EngineArtifact& artifact);

/// Those that the artifact names: one of `given` with the same hash, else the file at the path in the artifact. Error
/// operators/missing, operators/changed, backend/bad-artifact.
[[nodiscard]] Result<std::vector<OperatorLibrary>> libraries_of(const EngineArtifact& artifact,
                                                                std::span<const OperatorLibrary> given,
                                                                const std::string& where);

}  // namespace collage
