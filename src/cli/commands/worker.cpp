#include "worker/worker.h"

#include <charconv>

#include "api/tune/recheck.h"
#include "cli/program.h"
#include "measure/jobs.h"
#include "tune/jobs.h"

namespace collage::cli {
namespace {

int serve(int socket, const std::vector<std::string>& backend_libraries) {
  Registry registry(module_places(backend_libraries));
  std::vector<Handler> handlers = measure_handlers();
  for (Handler& handler : tune_handlers()) handlers.push_back(std::move(handler));
  handlers.push_back(recheck_handler());
  return worker_main(socket, registry, handlers);
}

}  // namespace

void add_worker(CLI::App& app, Program& program) {
  auto socket = std::make_shared<int>(-1);
  auto libraries = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("worker", "internal: a measuring process that tune starts");
  command->group("");  // no part of --help
  command->add_option("socket", *socket, "the number of the socket")->required();
  add_backend_library(*command, *libraries);
  command->callback(
      [&program, socket, libraries] { program.action = [socket, libraries] { return serve(*socket, *libraries); }; });
}

}  // namespace collage::cli
