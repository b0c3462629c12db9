// The worker of these tests: jobs of measure and a few that exercise the worker itself. Arguments: a folder of backend
// modules, the socket.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "measure/jobs.h"
#include "measure/worker.h"
#include "tests/measure/tuner_journal.h"

namespace collage {
namespace {

Result<Json> die(const Json& job, JobContext& context) {
  const std::string how = job.at("how");
  context.begin("die", job.value("candidate", -1));
  if (how == "hang")
    for (;;) ::sleep(1);
  if (how == "abort") std::abort();
  if (how == "exit") std::_Exit(3);
  if (how == "garbage") (void)!::write(3, "this is not a frame, and longer than a header", 45);
  if (how == "half") (void)!::write(3, "COL1", 4);
  if (how == "child") {
    // Another process of the group that outlives its parent unless the whole group is ended.
    if (::vfork() == 0) {
      ::execlp("sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    }
    for (;;) ::sleep(1);
  }
  if (how == "throw") throw std::runtime_error("out of the handler");
  return Json("still here");
}

std::vector<Handler> test_handlers() {
  return {{.type = "echo", .run = [](const Json& job, JobContext&) -> Result<Json> { return job.at("value"); }},
          {.type = "pid", .run = [](const Json&, JobContext&) -> Result<Json> { return Json(::getpid()); }},
          {.type = "fail",
           .run = [](const Json&, JobContext&) -> Result<Json> {
             return fail(ExitCode::kLimit, "test/failure", "here", "this", "that");
           }},
          {.type = "steps",
           .run = [](const Json&, JobContext& context) -> Result<Json> {
             for (int i = 0; i < 5; ++i) {
               context.begin("step", i, 1000);
               std::this_thread::sleep_for(std::chrono::milliseconds(60));
             }
             return Json("done");
           }},
          {.type = "die", .run = die}};
}

}  // namespace
}  // namespace collage

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  collage::Registry registry({argv[1]});
  std::vector<collage::Handler> handlers = collage::measure_handlers();
  for (collage::Handler& handler : collage::test_handlers()) handlers.push_back(std::move(handler));
  collage::test::keep_journal(handlers);
  return collage::worker_main(std::atoi(argv[2]), registry, handlers);
}
