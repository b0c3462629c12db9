#include "api/tune/worker_program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "api/tune/recheck.h"
#include "backend/registry.h"
#include "base/freed_pages.h"
#include "measure/jobs.h"
#include "tune/jobs.h"
#include "worker/limits.h"
#include "worker/worker.h"

namespace collage {
namespace {

/// As much as the buffers of a few large candidates, where that is a small part of the free memory: several workers may
/// run at once.
std::size_t bytes_to_keep() {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  constexpr std::int64_t kShare = 16;
  return static_cast<std::size_t>(std::min(kMost, available_memory() / kShare));
}

}  // namespace

std::vector<std::string> module_places(const std::vector<std::string>& modules) {
  std::vector<std::string> places = modules;
  for (std::string& folder : default_module_folders()) places.push_back(std::move(folder));
  return places;
}

Result<std::vector<std::string>> worker_command(const std::vector<std::string>& modules) {
  std::vector<std::string> command = {own_module_folder() + "/collage-worker"};
  if (::access(command.front().c_str(), X_OK) != 0)
    return fail(ExitCode::kIo, "worker/cannot-start", command.front(), std::strerror(errno),
                "the program collage-worker in the folder of the backends");
  command.insert(command.end(), modules.begin(), modules.end());
  return command;
}

int serve_worker(int socket, const std::vector<std::string>& modules) {
  FreedPages::of_process().keep(bytes_to_keep());
  Registry registry(module_places(modules));
  std::vector<Handler> handlers = measure_handlers();
  for (Handler& handler : tune_handlers()) handlers.push_back(std::move(handler));
  handlers.push_back(recheck_handler());
  return worker_main(socket, registry, handlers);
}

}  // namespace collage
