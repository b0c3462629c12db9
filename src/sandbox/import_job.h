// The job "import" of a worker: reads a model as a process that can do nothing else from then on.
// In:  a path and options; an empty memory file at kResultFile, and at kBytesFile the model's bytes where the path
// means
//      something in the asking process alone. Out: an Imported in the memory file (sandbox/import_file.h).
// Questions to the asking process: which operators of vendors are known, of which types their results are.
#pragma once

#include "onnx/import_arrays.h"
#include "worker/worker.h"
#include "worker/worker_process.h"

namespace collage {

inline constexpr int kResultFile = kFirstFile;
inline constexpr int kBytesFile = kFirstFile + 1;

/// What the process is asked for.
struct ImportJob {
  std::string path;
  ImportOptions options;  ///< without its functions
  ArrayShapes arrays;
  bool has_bytes = false;      ///< they are at kBytesFile
  bool knows_vendors = false;  ///< questions about operators are answered
  bool has_types = false;      ///< and about their types
};

/// An object with all of them by name, for jobs.
[[nodiscard]] Json to_json(const ImportLimits& limits);
/// As to_json() writes them. To be called in read_json().
[[nodiscard]] ImportLimits import_limits_from(const Json& json);

[[nodiscard]] Json to_json(const ImportJob& job);
[[nodiscard]] Result<ImportJob> import_job_from(const Json& json);

/// A question of the job is {"operator": {"domain", "op"}}, answered by true or false, or {"types": [offset, bytes]},
/// where the model lies in the memory file, answered by an object of types by name.
[[nodiscard]] Handler import_handler();

}  // namespace collage
