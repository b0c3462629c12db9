// The artifact of a kernel, or of a unit of kernels, as an exported library carries it: eight bytes of length and the
// description in the form of base/binary.h. In place of a shared object it has the name of linked code.
// Not here: the form of artifacts in plans, which other builds read too (program_json.cpp).
#pragma once

#include <string>
#include <string_view>

#include "program.h"

namespace collage::native {

[[nodiscard]] std::string to_binary_artifact(const StoredProgram& stored);
[[nodiscard]] std::string to_binary_artifact(const StoredUnit& unit);
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredProgram> program_from_binary(std::string_view bytes);
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredUnit> unit_from_binary(std::string_view bytes);

}  // namespace collage::native
