// collage-worker [PLACE...] SOCKET: a process that measures, started by the tuner, never by people.
// In: jobs on the socket of this number. Out: answers there. PLACE: a file or folder with backends.
#include <cstdio>
#include <string>
#include <vector>

#include "api/tune/worker_program.h"
#include "base/error.h"
#include "base/number_text.h"

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto socket = arguments.empty() ? std::nullopt : collage::number_in<int>(arguments.back());
  if (!socket) {
    std::fprintf(stderr, "collage-worker: is started by Collage with the number of a socket\n");
    return static_cast<int>(collage::ExitCode::kUsage);
  }
  arguments.pop_back();
  return collage::serve_worker(*socket, arguments);
}
