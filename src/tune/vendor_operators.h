// How import learns about operators of vendors: which there are, and of which types their values are, where only those
// that run them know.
// In:  backends; for types the reference, with libraries of custom operators or without them
//      (backend/extensions/operator_library.h). Out: the functions of ImportOptions.
#pragma once

#include <string>
#include <vector>

#include "backend/registry.h"
#include "base/work_folder.h"
#include "onnx/import.h"
#include "worker/worker.h"
#include "worker/worker_process.h"

namespace collage {

/// Import takes the operators of vendors that one of the instances runs. Where the user names libraries, types are
/// asked of the reference, in this process. The registry outlives the options.
void ask_vendors(ImportOptions& options, Registry& registry, std::vector<std::string> instances);

/// Types are asked in the worker instead, without libraries too: during a tune engines and libraries run nowhere else.
/// All outlive the options.
void ask_types_in(ImportOptions& options, WorkerProcess& worker, const WorkFolder& folder);

/// The worker's side of it.
[[nodiscard]] Handler vendor_types_handler();

}  // namespace collage
