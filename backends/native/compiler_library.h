// Opens the compiler library beside the module when it is first needed.
// In:  nothing. Out: the compiler's functions, or why it cannot be opened.
// Cost: loading Halide, once for a process.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "compiler_interface.h"

namespace collage::native {

/// The same table at every call, thread-safe. Error backend/missing: what to install.
[[nodiscard]] Result<const CompilerTable*> compiler();

/// Libraries that add strategies: libcollage_native_strategies_NAME.so beside this module and in the folders of
/// COLLAGE_BACKEND_PATH, sorted by path.
[[nodiscard]] std::vector<std::string> libraries_of_strategies();

/// The path of a library of strategies without links in it; as it is when there is no such file.
[[nodiscard]] std::string whole_path(const std::string& file);

}  // namespace collage::native
