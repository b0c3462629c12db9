#include "tests/support/child_tasks.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

namespace collage::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasShadowMemory = true;
#else
constexpr bool kHasShadowMemory = false;
#endif

void limit_memory(std::size_t bytes) {
  if (kHasShadowMemory) return;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = bytes + pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

bool write_all(int to, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(to, at, size);
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Nothing came within the time, or the other end is closed.
enum class Got { kAll, kNothing, kEnd };

Got read_all(int from, void* data, std::size_t size, double seconds) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    pollfd one{.fd = from, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(seconds * 1000));
    if (ready == 0) return Got::kNothing;
    const ssize_t got = ::read(from, at, size);
    if (got <= 0) return Got::kEnd;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return Got::kAll;
}

struct Header {
  double seconds = 0;
  std::size_t length = 0;
};

[[noreturn]] void serve(int to, std::size_t first, std::size_t count, const ChildLimits& limits,
                        const std::function<std::string(std::size_t)>& task) {
  limit_memory(limits.bytes);
  for (std::size_t i = first; i < std::min(count, first + limits.tasks); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = task(i);
    const Header header{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), text.size()};
    if (!write_all(to, &header, sizeof(header)) || !write_all(to, text.data(), text.size())) break;
  }
  ::_exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::vector<ChildAnswer> answers_of_children(std::size_t count, const ChildLimits& limits,
                                             const std::function<std::string(std::size_t)>& task) {
  std::vector<ChildAnswer> answers;
  while (answers.size() < count) {
    int ends[2];
    if (::pipe(ends) != 0) break;
    std::fflush(nullptr);  // else a child that ends by itself writes it once more
    const std::size_t end = std::min(count, answers.size() + limits.tasks);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      serve(ends[1], answers.size(), count, limits, task);
    }
    ::close(ends[1]);
    Got got = Got::kAll;
    while (answers.size() < end) {
      Header header;
      // What a busy machine adds is not the task's; it says itself how long it took.
      got = read_all(ends[0], &header, sizeof(header), 3 * limits.seconds);
      if (got != Got::kAll) break;
      ChildAnswer answer{.end = header.seconds > limits.seconds ? ChildAnswer::End::kHung : ChildAnswer::End::kAnswered,
                         .text = std::string(header.length, '\0'),
                         .seconds = header.seconds};
      got = read_all(ends[0], answer.text.data(), header.length, limits.seconds);
      if (got != Got::kAll) break;
      answers.push_back(std::move(answer));
    }
    ::close(ends[0]);
    if (got == Got::kNothing) ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (got == Got::kNothing) answers.push_back({.end = ChildAnswer::End::kHung, .text = "no answer"});
    if (got == Got::kEnd) answers.push_back({.end = ChildAnswer::End::kDied, .text = how_it_ended(status)});
  }
  return answers;
}

}  // namespace collage::testing
