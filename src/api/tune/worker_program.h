// The program collage-worker: the processes in which a tune, a recheck and a replay run the code of backends. It lies
// beside the backends, so that any program that uses these libraries can start it.
// In:  places of backends besides the usual ones. Out: the argv for WorkerProcess, and what that program does.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace collage {

/// Where backends are searched for: `modules`, files or folders, come first.
[[nodiscard]] std::vector<std::string> module_places(const std::vector<std::string>& modules);

/// The argv that starts a worker with these backends; the socket's number follows. Error worker/cannot-start when the
/// program is not in own_module_folder(), with the path looked at.
[[nodiscard]] Result<std::vector<std::string>> worker_command(const std::vector<std::string>& modules);

/// All that the program does: serves the jobs of measure, tune and api/tune with the backends of module_places() until
/// the socket is closed. The exit status of the process.
[[nodiscard]] int serve_worker(int socket, const std::vector<std::string>& modules);

}  // namespace collage
