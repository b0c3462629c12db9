// Opens one module file: the backend kind that its name says, and the table that it exports.
// In:  a path. Out: its table of hooks or its BackendModule.
// Cost: that of the dynamic loader and the module's constructors; a module with hooks is also read once for its hash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backend/hooks.h"
#include "backend/registry.h"

namespace collage {

/// One of the two tables.
struct Module {
  const BackendModule* backend = nullptr;
  std::optional<BackendHooks> hooks;
  std::string build;  ///< of a module of hooks: changes with its bytes
};

/// The name of a kind's module file: libcollage_backend_<kind>.so.
[[nodiscard]] std::string file_of_kind(const std::string& kind);
/// The kind in a module's file name; empty for other files.
[[nodiscard]] std::string kind_of_file(std::string_view file);

/// The kind in the name of a file that says why there is no module: libcollage_backend_<kind>.lacks, one line.
[[nodiscard]] std::string left_out_kind_of_file(std::string_view file);

/// Loads a module, which is never unloaded: the runtimes behind modules keep threads and exit handlers, and kernels may
/// live longer than the registry. Error backend/unusable.
[[nodiscard]] Result<Module> load_module(const std::string& path, const std::string& kind);

}  // namespace collage
