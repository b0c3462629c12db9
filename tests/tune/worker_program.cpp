// The worker of these tests: every job of a tune. Arguments: folders of backend modules, the socket.
#include <cstdlib>

#include "api/tune/recheck.h"
#include "measure/jobs.h"
#include "tune/jobs.h"
#include "worker/worker.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  collage::Registry registry({argv + 1, argv + argc - 1});
  std::vector<collage::Handler> handlers = collage::measure_handlers();
  for (collage::Handler& handler : collage::tune_handlers()) handlers.push_back(std::move(handler));
  handlers.push_back(collage::recheck_handler());
  return collage::worker_main(std::atoi(argv[argc - 1]), registry, handlers);
}
