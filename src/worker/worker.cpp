#include "worker/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <thread>

#include "worker/frame.h"
#include "worker/limits.h"

namespace collage {
namespace {

void set_process_limits() {
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // The kernel takes a worker rather than the supervisor when memory runs out.
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    (void)!::write(file, "500", 3);
    ::close(file);
  }
  // A file at its limit is an error of the write, not a death.
  ::signal(SIGXFSZ, SIG_IGN);
  // Orphans of its children come to it, so that it can find and end them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  // Where the kernel has no filters the network stays: nothing measured depends on it.
  (void)leave_network();
}

/// Readable when the process that started this one has ended; -1 where the kernel has no such descriptors.
int parent_descriptor() { return static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)); }

/// Ends this process and its group when the supervisor has ended or closed its end of the socket, whatever the jobs do.
/// A copy of the supervisor that it forked may hold the socket open for longer. Not PR_SET_PDEATHSIG: that fires when
/// the thread that started the worker ends, which need not be the process.
void die_with_supervisor(int socket) {
  std::thread([socket] {
    std::array<pollfd, 2> entries = {{{.fd = socket, .events = POLLRDHUP, .revents = 0},
                                      {.fd = parent_descriptor(), .events = POLLIN, .revents = 0}}};
    while (entries[0].revents == 0 && (entries[1].revents & POLLIN) == 0) {
      if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) break;
      // Closed by a library: it is ignored from now on.
      if ((entries[1].revents & POLLNVAL) != 0) entries[1] = {.fd = -1, .events = 0, .revents = 0};
    }
    // A library closed our end: the supervisor is there and must not take this for a kill from outside.
    if ((entries[0].revents & POLLNVAL) != 0) ::_exit(static_cast<int>(ExitCode::kIo));
    if (::getpgrp() == ::getpid()) ::kill(0, SIGKILL);
    ::_exit(0);
  }).detach();
}

/// The status file of the supervisor, or -1 when `descriptor` is something else.
int status_file(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? descriptor : -1;
}

Result<Json> run_job(const std::string& payload, std::span<const Handler> handlers, JobContext& context) {
  COLLAGE_TRY(const Json job, parse_json(payload, "job"));
  COLLAGE_TRY(const std::string type, read_json("job", [&] { return job.at("type").get<std::string>(); }));
  for (const Handler& handler : handlers) {
    if (handler.type != type) continue;
    // Library exceptions that a backend let through, and malformed jobs, end here.
    auto outcome = guard([&] { return handler.run(job, context); });
    if (outcome) return *std::move(outcome);
    return fail(ExitCode::kBug, "worker/exception", "job " + type, outcome.error());
  }
  return fail(ExitCode::kBug, "worker/unknown-job", "job", type, "a type with a handler");
}

}  // namespace

void JobContext::begin(const std::string& stage, std::int32_t candidate, std::int64_t expected_ns) {
  mark(candidate);
  stage_ = stage;
  const Json progress = {{"stage", stage}, {"candidate", candidate}, {"expected_ns", expected_ns}};
  // A supervisor that is gone is noticed by the watching thread.
  (void)write_frame(socket_, {.type = FrameType::kProgress, .payload = to_line(progress)});
}

Result<Json> JobContext::ask(const Json& question) {
  COLLAGE_TRY_VOID(write_frame(socket_, {.type = FrameType::kQuestion, .payload = to_line(question)}));
  COLLAGE_TRY(const auto frame, read_frame(socket_, std::nullopt));
  if (!frame || frame->type != FrameType::kAnswer)
    return fail(ExitCode::kIo, "frame/closed", "worker socket", "no answer", "an answer");
  COLLAGE_TRY(const Json said, parse_json(frame->payload, "answer"));
  if (const auto error = said.find("error"); error != said.end()) {
    COLLAGE_TRY(Error failure, read_json("answer", [&] { return error_from(*error); }));
    return std::unexpected(std::move(failure));
  }
  return read_json("answer", [&] { return said.at("answer"); });
}

void JobContext::mark(std::int32_t candidate) {
  if (status_ >= 0) (void)!::pwrite(status_, &candidate, sizeof candidate, 0);
}

int worker_main(int socket, Registry& registry, std::span<const Handler> handlers) {
  set_process_limits();
  ::signal(SIGPIPE, SIG_IGN);
  const int status = status_file(socket + 1);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  if (status >= 0) ::fcntl(status, F_SETFD, FD_CLOEXEC);
  die_with_supervisor(socket);
  JobContext context(socket, status, registry);
  for (;;) {
    const auto frame = read_frame(socket, std::nullopt);
    if (!frame) return static_cast<int>(frame.error().exit);
    if (!*frame) return 0;
    const Result<Json> answer = run_job((*frame)->payload, handlers, context);
    context.mark(-1);
    const Frame reply = answer ? Frame{.type = FrameType::kResult, .payload = to_line(*answer)}
                               : Frame{.type = FrameType::kError, .payload = to_line(to_json(answer.error()))};
    if (!write_frame(socket, reply)) return static_cast<int>(ExitCode::kIo);
  }
}

}  // namespace collage
