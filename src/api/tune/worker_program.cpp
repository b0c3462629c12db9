#include "api/tune/worker_program.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "api/tune/recheck.h"
#include "backend/registry.h"
#include "base/freed_pages.h"
#include "measure/jobs.h"
#include "tune/jobs.h"
#include "worker/worker.h"

namespace collage {
namespace {

/// As much as the buffers of a few large candidates.
constexpr std::size_t kKeptPages = std::size_t{128} << 20;

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
  FreedPages::of_process().keep(kKeptPages);
  Registry registry(module_places(modules));
  std::vector<Handler> handlers = measure_handlers();
  for (Handler& handler : tune_handlers()) handlers.push_back(std::move(handler));
  handlers.push_back(recheck_handler());
  return worker_main(socket, registry, handlers);
}

}  // namespace collage
