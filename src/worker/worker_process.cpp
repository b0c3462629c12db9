#include "worker/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/spawn_attributes.h"

extern char** environ;

namespace collage {
namespace {

constexpr int kSocketInWorker = 3;
constexpr int kStatusInWorker = 4;
constexpr int kMostFiles = 4;
static_assert(kFirstFile == kStatusInWorker + 1);
constexpr std::size_t kLastWords = 400;
constexpr auto kSlice = std::chrono::milliseconds(100);
/// The longest run that a worker may announce.
constexpr std::int64_t kLongestNs = std::int64_t{24} * 3600 * 1'000'000'000;
constexpr const char* kMark = "COLLAGE_WORKER";
/// Of the memory that is free when a worker starts: the rest is for the supervisor and the page cache.
constexpr double kMemoryShare = 0.8;
/// Bytes of messages kept; only the last ones are ever read.
constexpr off_t kMostMessages = off_t{16} << 20;

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

std::unexpected<Error> cannot_start(const std::string& program, int error) {
  return fail(ExitCode::kIo, "worker/cannot-start", program, std::strerror(error), "a program that can be run");
}

/// Tells the processes of one worker from all others.
std::string new_mark() { return fmt::format("{}.{}", ::getpid(), Clock::now().time_since_epoch().count()); }

/// The environment with the mark.
std::vector<std::string> marked_environment(const std::string& mark) {
  std::vector<std::string> marked = {std::string(kMark) + "=" + mark};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) marked.emplace_back(*entry);
  return marked;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The process id in `pid`; returns the system's error, or 0.
int spawn(const std::vector<std::string>& command, const std::string& mark, int socket, int status, int messages,
          const std::vector<int>& files, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  const SpawnAttributes attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, messages, 2);
  ::posix_spawn_file_actions_adddup2(&actions, socket, kSocketInWorker);
  ::posix_spawn_file_actions_adddup2(&actions, status, kStatusInWorker);
  int next = kFirstFile;
  for (const int file : files) ::posix_spawn_file_actions_adddup2(&actions, file, next++);
  // Files and sockets of the program that tunes are not the worker's to hold open.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, next);
  std::vector<std::string> arguments = command;
  arguments.push_back(std::to_string(kSocketInWorker));
  std::vector<std::string> environment = marked_environment(mark);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(environment);
  const int error = ::posix_spawnp(&pid, argv[0], &actions, attributes.get(), argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// A descriptor above those that spawn() hands out, so that no dup2 there overwrites one still needed.
int raised(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstFile + kMostFiles);
  ::close(descriptor);
  return copy;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return std::string("killed by SIG") + (name != nullptr ? name : std::to_string(WTERMSIG(status)));
  }
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

Result<JobProgress> progress_from(const std::string& payload) {
  COLLAGE_TRY(const Json json, parse_json(payload, "progress"));
  return read_json("progress", [&] {
    return JobProgress{.stage = json.at("stage").get<std::string>(),
                       .candidate = json.at("candidate").get<std::int32_t>(),
                       .expected_ns = json.at("expected_ns").get<std::int64_t>()};
  });
}

Result<Json> answer_of(const Frame& frame) {
  COLLAGE_TRY(Json json, parse_json(frame.payload, "worker"));
  if (frame.type == FrameType::kResult) return json;
  COLLAGE_TRY(Error error, read_json("worker", [&] { return error_from(json); }));
  return std::unexpected(std::move(error));
}

}  // namespace

WorkerProcess::WorkerProcess(std::vector<std::string> command, WorkerLimits limits, std::vector<int> files)
    : command_(std::move(command)), limits_(limits), files_(std::move(files)) {
  COLLAGE_CHECK(!command_.empty(), "a worker needs a program");
  COLLAGE_CHECK(files_.size() <= kMostFiles, "too many files for a worker");
}

WorkerProcess::~WorkerProcess() { stop(); }

Result<void> WorkerProcess::start() {
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return cannot_start(command_[0], errno);
  socket_ = raised(pair[0]);
  int theirs = raised(pair[1]);
  status_ = raised(::memfd_create("collage-status", MFD_CLOEXEC));
  messages_ = raised(::memfd_create("collage-messages", MFD_CLOEXEC));
  int error = errno;
  if (socket_ >= 0 && theirs >= 0 && status_ >= 0 && messages_ >= 0) {
    ::fcntl(messages_, F_SETFL, O_APPEND);
    mark_ = new_mark();
    std::vector<int> copies;
    for (const int file : files_) copies.push_back(::fcntl(file, F_DUPFD_CLOEXEC, kFirstFile + kMostFiles));
    error = spawn(command_, mark_, theirs, status_, messages_, copies, pid_);
    for (int& copy : copies) close_descriptor(copy);
    if (error == 0) {
      limit_process(pid_, limits_);
      const auto most = static_cast<std::int64_t>(kMemoryShare * static_cast<double>(available_memory()));
      memory_limit_ = limits_.memory_bytes > 0 ? limits_.memory_bytes : most;
      memory_ = 0;
      close_descriptor(theirs);
      return {};
    }
  }
  close_descriptor(theirs);
  pid_ = -1;
  stop();
  return cannot_start(command_[0], error);
}

void WorkerProcess::stop() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  if (!mark_.empty()) end_marked(kMark, mark_.c_str());
  mark_.clear();
  close_descriptor(socket_);
  close_descriptor(status_);
  close_descriptor(messages_);
}

std::string WorkerProcess::stderr_tail() const {
  const off_t size = ::lseek(messages_, 0, SEEK_END);
  if (size <= 0) return {};
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(kLastWords));
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  const ssize_t got = ::pread(messages_, text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  for (char& character : text)
    if (static_cast<unsigned char>(character) < 0x20) character = ' ';
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<std::int32_t> WorkerProcess::marked() const {
  std::int32_t candidate = -1;
  if (::pread(status_, &candidate, sizeof candidate, 0) != sizeof candidate || candidate < 0) return std::nullopt;
  return candidate;
}

Death WorkerProcess::reap(Refusal refusal, const std::string& stage) {
  Death death{.refusal = std::move(refusal), .stage = stage, .candidate = marked()};
  if (!stage.empty()) death.refusal.detail += " during " + stage;
  if (const std::string words = stderr_tail(); !words.empty()) death.refusal.detail += ": " + words;
  stop();
  return death;
}

Death WorkerProcess::died(const std::string& stage) {
  int status = 0;
  // The socket closed: the process is gone or, when a library closed our descriptor, will never answer.
  for (int tries = 0; tries < 100; ++tries) {
    const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
    if (reaped < 0 && errno == ECHILD) {
      // The program that tunes waits for all its children, or ignores SIGCHLD: it has the status.
      ::kill(-pid_, SIGKILL);
      pid_ = -1;
      return reap({.reason = RefusalReason::kCrashed, .detail = "ended"}, stage);
    }
    if (reaped == pid_) {
      ::kill(-pid_, SIGKILL);
      pid_ = -1;
      const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return reap({.reason = RefusalReason::kTimeout, .detail = "used up its processor time"}, stage);
      // Nobody here sent that signal, so it was the kernel, short of memory.
      return reap({.reason = killed ? RefusalReason::kResources : RefusalReason::kCrashed, .detail = describe(status)},
                  stage);
    }
    ::usleep(10'000);
  }
  return reap({.reason = RefusalReason::kCrashed, .detail = "closed its socket"}, stage);
}

void WorkerProcess::watch() {
  const Clock::time_point now = Clock::now();
  if (now - watched_ < kSlice) return;
  watched_ = now;
  memory_ = private_bytes(pid_);
  cut_messages(kMostMessages);
}

void WorkerProcess::cut_messages(off_t most) const {
  struct stat messages {};
  if (::fstat(messages_, &messages) == 0 && messages.st_size > most) (void)!::ftruncate(messages_, 0);
}

bool WorkerProcess::is_bloated() const { return pid_ > 0 && private_bytes(pid_) > memory_limit_ / 2; }

Result<bool> WorkerProcess::wait(Clock::time_point deadline, const std::stop_token& stop) {
  for (;;) {
    // Looked at first: a worker that reports often never lets a wait time out.
    watch();
    if (stop.stop_requested() || memory_ > memory_limit_) return false;
    COLLAGE_TRY(const bool ready, wait_readable(socket_, std::min(deadline, Clock::now() + kSlice)));
    if (ready) return true;
    if (Clock::now() >= deadline) return false;
  }
}

std::expected<Result<Json>, Death> WorkerProcess::call(const Json& job, const Allowance& allowance,
                                                       std::stop_token stop, const Answerer& answer) {
  if (!is_running())
    if (auto started = start(); !started) return Result<Json>(std::unexpected(std::move(started).error()));
  const std::int32_t nobody = -1;
  (void)!::pwrite(status_, &nobody, sizeof nobody, 0);
  cut_messages(0);
  std::optional<JobProgress> progress;
  const auto stage = [&] { return progress ? progress->stage : std::string(); };
  // A worker that died since the last job is noticed by the read below.
  (void)write_frame(socket_, {.type = FrameType::kJob, .payload = to_line(job)});
  for (;;) {
    const auto deadline = Clock::now() + allowance(progress);
    const auto ready = wait(deadline, stop);
    if (ready && !*ready) {
      Refusal refusal{.reason = RefusalReason::kTimeout, .detail = "no sign of life in time"};
      if (memory_ > memory_limit_)
        refusal = {.reason = RefusalReason::kResources,
                   .detail = fmt::format("{} MiB of memory, {} allowed", memory_ >> 20, memory_limit_ >> 20)};
      Death death = reap(std::move(refusal), stage());
      death.stopped = stop.stop_requested();
      return std::unexpected(std::move(death));
    }
    const auto frame = ready ? read_frame(socket_, deadline) : std::unexpected(ready.error());
    if (!frame && frame.error().code != "frame/truncated" && frame.error().code != "frame/closed")
      return std::unexpected(
          reap({.reason = RefusalReason::kCrashed, .detail = "broke its protocol with " + frame.error().saw}, stage()));
    if (!frame || !*frame) return std::unexpected(died(stage()));
    if ((*frame)->type == FrameType::kQuestion) {
      reply(**frame, answer);
      continue;
    }
    if ((*frame)->type != FrameType::kProgress) return answer_of(**frame);
    const auto step = progress_from((*frame)->payload);
    if (step) progress = *step;
  }
}

void WorkerProcess::reply(const Frame& question, const Answerer& answer) const {
  const auto said = [&]() -> Result<Json> {
    COLLAGE_TRY(const Json asked, parse_json(question.payload, "question"));
    if (!answer) return fail(ExitCode::kBug, "worker/no-answer", "question", "one that nobody answers");
    return answer(asked);
  }();
  const Json reply = said ? Json{{"answer", *said}} : Json{{"error", to_json(said.error())}};
  (void)write_frame(socket_, {.type = FrameType::kAnswer, .payload = to_line(reply)});
}

Allowance usual_allowance(std::chrono::nanoseconds start, std::chrono::nanoseconds compile,
                          std::chrono::nanoseconds floor) {
  return [=](const std::optional<JobProgress>& progress) {
    if (!progress) return start;
    if (progress->stage == "compile" || progress->stage == "load") return compile;
    // The worker says what it expects, and may say anything.
    return std::max(floor,
                    std::chrono::nanoseconds(20 * std::clamp<std::int64_t>(progress->expected_ns, 0, kLongestNs)));
  };
}

}  // namespace collage
