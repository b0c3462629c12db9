#include "backends/tvm/compiler_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "backends/common/engine/engine_support.h"

namespace collage::tvm {
namespace {

using Clock = std::chrono::steady_clock;

/// Characters of what the process said at its end.
constexpr std::size_t kMostWords = 200;

std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::absolute(info.dli_fname).parent_path();
}

/// In the group of this process, so that what ends the group ends it too; no blocked and no ignored signals.
class OwnAttributes {
 public:
  OwnAttributes() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  OwnAttributes(const OwnAttributes&) = delete;
  OwnAttributes& operator=(const OwnAttributes&) = delete;
  ~OwnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// Both ends are closed with the object unless taken.
class Pipe {
 public:
  Pipe() { (void)::pipe2(ends_.data(), O_CLOEXEC); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends_)
      if (end >= 0) ::close(end);
  }
  [[nodiscard]] bool is_open() const { return ends_[0] >= 0; }
  [[nodiscard]] int end(std::size_t which) const { return ends_[which]; }
  int take(std::size_t which) { return std::exchange(ends_[which], -1); }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

std::string tail_of(const std::string& log) {
  std::ifstream file(log, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() > kMostWords) text.erase(0, text.size() - kMostWords);
  return one_line(text);
}

std::string how(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::expected<Toolchain, std::string> find_toolchain() {
  const char* named = std::getenv("COLLAGE_TVM_PYTHON");
  Toolchain found{.python = named != nullptr ? named : COLLAGE_TVM_PYTHON, .script = own_folder() / "tvm" / "main.py"};
  if (::access(found.python.c_str(), X_OK) != 0)
    return std::unexpected("TVM is not in " + found.python + ": run ./dev setup tvm");
  if (::access(found.script.c_str(), R_OK) != 0) return std::unexpected("no file " + found.script);
  return found;
}

Result<std::unique_ptr<CompilerProcess>> CompilerProcess::start(const Toolchain& toolchain, int threads) {
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  std::unique_ptr<CompilerProcess> process(new CompilerProcess(std::move(folder), threads));
  if (process->spawn(toolchain)) return process;
  return fail(ExitCode::kUnsupported, "backend/library-failed", "tvm", toolchain.python + ": " + std::strerror(errno),
              "a program that starts");
}

bool CompilerProcess::spawn(const Toolchain& toolchain) {
  Pipe requests;
  Pipe answers;
  if (!requests.is_open() || !answers.is_open()) return false;
  const OwnAttributes attributes;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, requests.end(0), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, answers.end(1), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, folder_.file("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  std::string python = toolchain.python;
  std::string script = toolchain.script;
  std::string threads = std::to_string(threads_);
  std::string isolated = "-EsB";  // whatever the environment says of Python, and nothing is written beside the script
  std::array<char*, 5> words = {python.data(), isolated.data(), script.data(), threads.data(), nullptr};
  const int error = ::posix_spawn(&pid_, words[0], &actions, attributes.get(), words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    errno = error;
    return false;
  }
  requests_ = requests.take(1);
  answers_ = answers.take(0);
  return true;
}

CompilerProcess::~CompilerProcess() { end(); }

std::string CompilerProcess::end() {
  if (requests_ >= 0) ::close(std::exchange(requests_, -1));
  if (answers_ >= 0) ::close(std::exchange(answers_, -1));
  if (pid_ <= 0) return {};
  int status = 0;
  const pid_t pid = std::exchange(pid_, -1);
  if (::waitpid(pid, &status, WNOHANG) == 0) {
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  const std::string words = tail_of(folder_.file("log"));
  return how(status) + (words.empty() ? "" : ", " + words);
}

bool CompilerProcess::send(const std::string& line) const {
  // A process that has died is an answer, not a signal for this one.
  sigset_t broken;
  sigset_t before;
  ::sigemptyset(&broken);
  ::sigaddset(&broken, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken, &before);
  std::size_t sent = 0;
  bool is_sent = true;
  while (is_sent && sent < line.size()) {
    const ssize_t count = ::write(requests_, line.data() + sent, line.size() - sent);
    if (count > 0) sent += static_cast<std::size_t>(count);
    if (count < 0 && errno == EPIPE) {
      const timespec none{};
      ::sigtimedwait(&broken, nullptr, &none);
    }
    is_sent = count > 0 || errno == EINTR;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_sent;
}

std::expected<std::string, Refusal> CompilerProcess::line_until(Clock::time_point end_of_patience) {
  std::string line;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_of_patience - Clock::now()).count();
    if (left <= 0) {
      end();
      return std::unexpected(Refusal{RefusalReason::kTimeout, "TVM did not answer in time"});
    }
    pollfd entry{.fd = answers_, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 4096> block;
    const ssize_t count = ::read(answers_, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::unexpected(Refusal{RefusalReason::kCompile, "TVM died: " + end()});
    line.append(block.data(), static_cast<std::size_t>(count));
    if (line.ends_with('\n')) return line;
  }
}

std::expected<Json, Refusal> CompilerProcess::ask(const Json& request, std::chrono::seconds patience) {
  const Clock::time_point until = Clock::now() + patience;
  if (!is_alive() || !send(to_line(request) + "\n"))
    return std::unexpected(Refusal{RefusalReason::kCompile, "TVM died: " + end()});
  auto line = line_until(until);
  if (!line) return std::unexpected(line.error());
  const auto answer = parse_json(*line, "tvm");
  if (!answer || !answer->is_object()) return std::unexpected(Refusal{RefusalReason::kCompile, "no answer but words"});
  if (answer->contains("plan")) return answer->at("plan");
  const std::string words = answer->value("error", "no reason");
  return std::unexpected(Refusal{RefusalReason::kCompile, one_line(words)});
}

}  // namespace collage::tvm
