// The worker of these tests: jobs of measure and a few that exercise the worker itself. Arguments: a folder of backend
// modules, the socket.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "measure/jobs.h"
#include "tests/measure/tuner_journal.h"
#include "worker/worker.h"

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
  if (how == "escape" && ::fork() == 0) {
    // Out of the group and of the session, and of whoever started it.
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (;;) ::sleep(1);
  }
  if (how == "escape")
    for (;;) ::sleep(1);
  if (how == "hog") {
    std::vector<std::unique_ptr<char[]>> kept;
    for (int block = 0; block < 8 * 16; ++block) {
      constexpr std::size_t kBlock = std::size_t{64} << 20;
      kept.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
      std::memset(kept.back().get(), 1, kBlock);
    }
  }
  if (how == "chatter")
    for (const std::string line(4096, 'x');;) (void)!::write(2, line.data(), line.size());
  if (how == "throw") throw std::runtime_error("out of the handler");
  return Json("still here");
}

/// The error of making a socket of each family; 0 where it works.
Result<Json> open_sockets(const Json&, JobContext&) {
  Json errors = Json::array();
  for (const int family : {AF_INET, AF_INET6, AF_UNIX}) {
    const int socket = ::socket(family, SOCK_STREAM, 0);
    errors.push_back(socket < 0 ? errno : 0);
    if (socket >= 0) ::close(socket);
  }
  return errors;
}

Result<Json> tell_limits(const Json&, JobContext&) {
  Json limits = Json::object();
  const auto add = [&](const char* name, __rlimit_resource what) {
    rlimit limit{};
    ::getrlimit(what, &limit);
    limits[name] = limit.rlim_cur;
  };
  add("core", RLIMIT_CORE);
  add("file", RLIMIT_FSIZE);
  add("descriptors", RLIMIT_NOFILE);
  add("cpu", RLIMIT_CPU);
  return limits;
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
          {.type = "sockets", .run = open_sockets},
          {.type = "limits", .run = tell_limits},
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
