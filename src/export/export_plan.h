// Makes a library of a plan: one file that holds the model, its weights and its kernels, with C functions.
// In:  a plan of one shape, whose backends can be linked. Out: a shared library, a header, and where asked for a static
//       library.
// How: the library has the runtime that every program has, compiled once more as an archive (export/library), and the
//      plan, its weights and its kernels as tables and linked code. Equal plans give equal bytes.
// Not here: what runs in the library (export/library).
#pragma once

#include <string>

#include "backend/registry.h"
#include "plan/realised_plan.h"

namespace collage {

struct LibraryOptions {
  std::string plan;     ///< its path, for messages
  std::string output;   ///< path of the shared library
  std::string header;   ///< path of the header
  std::string archive;  ///< path of the static library; empty = none
  std::string name;     ///< of the C functions; empty = made of the output's name
};

/// What was written.
struct ExportReport {
  std::string name;  ///< a C identifier in lower case
  LibraryOptions files;
  std::size_t library_bytes = 0;
  std::size_t weights_bytes = 0;
  std::size_t workspace_bytes = 0;
  std::size_t steps = 0;
  int threads = 1;
};

/// Errors export/bad-name, export/same-file, export/backend, export/shape, export/not-linkable, export/no-linker,
/// export/no-runtime, export/link-failed, io/cannot-write, file/cannot-write. Files are written only when all are made.
[[nodiscard]] Result<ExportReport> export_plan(const RealisedPlan& plan, const BackendSource& backends,
                                               const LibraryOptions& options);

[[nodiscard]] std::string to_text(const ExportReport& report);
/// Schema collage.export/1.
[[nodiscard]] std::string to_json(const ExportReport& report);

}  // namespace collage
