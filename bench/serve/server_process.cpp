#include "bench/serve/server_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

extern char** environ;

namespace collage::load {
namespace {

std::string how_it_ended(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : fmt::format("exit {}", WEXITSTATUS(status));
}

}  // namespace

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), port_(other.port_), ended_(std::move(other.ended_)) {}

ServerProcess::~ServerProcess() {
  if (!is_running()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<ServerProcess> ServerProcess::start(const std::string& program, const std::string& plan,
                                           const std::vector<std::string>& options) {
  const std::string port_file =
      (std::filesystem::temp_directory_path() / fmt::format("serve-load-{}.port", ::getpid())).string();
  std::filesystem::remove(port_file);
  std::vector<std::string> words = {program, "serve",       "model=" + plan, "--port",
                                    "0",     "--port-file", port_file,       "--quiet"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ServerProcess server;
  if (::posix_spawn(&server.pid_, program.c_str(), nullptr, nullptr, argv.data(), environ) != 0)
    return fail(ExitCode::kIo, "load/cannot-start", program, "no such program", "the built collage");
  while (server.port_ == 0 && server.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ifstream(port_file) >> server.port_;
  }
  std::filesystem::remove(port_file);
  if (server.port_ == 0) return fail(ExitCode::kIo, "load/cannot-start", program, server.ended_, "a server that runs");
  return server;
}

std::size_t ServerProcess::resident_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", pid_));
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool ServerProcess::is_running() {
  if (pid_ < 0) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) return true;
  ended_ = how_it_ended(status);
  pid_ = -1;
  return false;
}

std::string ServerProcess::stop() {
  if (!is_running()) return ended_;
  ::kill(pid_, SIGTERM);
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return ended_ = how_it_ended(status);
}

}  // namespace collage::load
