#include "tests/cli/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>

extern char** environ;

namespace collage::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string temporary_setting(const fs::path& home) { return "TMPDIR=" + (home / "tmp").string(); }

/// This process's environment with the places that the program writes to moved into `home`.
std::vector<std::string> environment(const fs::path& home) {
  std::vector<std::string> result = {temporary_setting(home), "HOME=" + home.string(),
                                     "XDG_CACHE_HOME=" + (home / "cache").string()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("TMPDIR=") && !text.starts_with("HOME=") && !text.starts_with("XDG_CACHE_HOME="))
      result.push_back(text);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::string describe(const Ended& ended) {
  const std::string how = ended.timed_out    ? "took too long"
                          : ended.signal > 0 ? fmt::format("signal {}", ended.signal)
                                             : fmt::format("exit code {}", ended.exit_code);
  return fmt::format("{}\nstdout: {}\nstderr: {}", how, ended.out.substr(0, 2000), ended.err.substr(0, 2000));
}

Program::Program(const fs::path& home, const std::vector<std::string>& arguments, const fs::path& executable,
                 const fs::path& standard_output) {
  static std::atomic<int> count = 0;
  const int number = count++;
  fs::create_directories(home / "tmp");
  fs::create_directories(home / "streams");
  out_ = home / "streams" / fmt::format("{}.out", number);
  err_ = home / "streams" / fmt::format("{}.err", number);
  std::vector<std::string> command = {executable.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> settings = environment(home);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, standard_output.empty() ? out_.c_str() : standard_output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::posix_spawn(&pid_, command.front().c_str(), &actions, nullptr, pointers(command).data(),
                    pointers(settings).data()) != 0)
    pid_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
}

Program::~Program() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Program::send(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

Ended Program::wait(std::chrono::milliseconds limit) {
  Ended ended;
  if (pid_ <= 0) return ended;
  const auto deadline = Clock::now() + limit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline && !ended.timed_out) {
      ended.timed_out = true;
      ::kill(pid_, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  if (WIFSIGNALED(status) && !ended.timed_out) ended.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  ended.out = read_all(out_);
  ended.err = read_all(err_);
  return ended;
}

std::vector<pid_t> processes_of(const fs::path& home) {
  std::vector<pid_t> found;
  const std::string wanted = temporary_setting(home) + '\0';
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    // A process that ended meanwhile, or a zombie, has nothing to read.
    if (read_all(entry.path() / "environ").find(wanted) != std::string::npos) found.push_back(pid);
  }
  return found;
}

void write_all(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace collage::testing
