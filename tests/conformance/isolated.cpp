// Form of the answers: per outcome one line "KIND<tab>REASON<tab>DETAIL" through a pipe.
#include "tests/conformance/isolated.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

namespace collage::conformance {
namespace {

Outcome failed(std::string detail) {
  return {.kind = Outcome::Kind::kFailed, .reason = {}, .detail = std::move(detail)};
}

std::string to_line(const Outcome& outcome) {
  std::string detail = outcome.detail;
  std::replace_if(
      detail.begin(), detail.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return std::to_string(static_cast<int>(outcome.kind)) + '\t' + outcome.reason + '\t' + detail + '\n';
}

Outcome of_line(const std::string& line) {
  const std::size_t first = line.find('\t');
  const std::size_t second = line.find('\t', first + 1);
  if (first != 1 || second == std::string::npos) return failed("the child answered '" + line + "'");
  return {.kind = static_cast<Outcome::Kind>(line[0] - '0'),
          .reason = line.substr(first + 1, second - first - 1),
          .detail = line.substr(second + 1)};
}

void write_all(int pipe, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(pipe, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) ::_exit(1);
    if (written > 0) done += static_cast<std::size_t>(written);
  }
}

/// A running child, and the lines it wrote.
class Child {
 public:
  Child(std::size_t from, std::size_t count, const std::function<Outcome(std::size_t)>& work) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      for (std::size_t i = from; i < count; ++i) write_all(ends[1], to_line(work(i)));
      // Not exit: the engines' exit handlers are not what is under test, and gtest's must not run twice.
      ::_exit(0);
    }
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) static_cast<void>(end());
    if (pipe_ >= 0) ::close(pipe_);
  }

  /// The next line; nothing when there will be none, and then `why` says so.
  std::optional<std::string> next_line(std::chrono::milliseconds patience, std::string& why) {
    for (;;) {
      if (const std::size_t end_of_line = read_.find('\n'); end_of_line != std::string::npos) {
        std::string line = read_.substr(0, end_of_line);
        read_.erase(0, end_of_line + 1);
        return line;
      }
      pollfd wanted{.fd = pipe_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&wanted, 1, static_cast<int>(patience.count()));
      if (ready == 0) {
        static_cast<void>(end());
        why = "no outcome within " + std::to_string(patience.count()) + " ms";
        return std::nullopt;
      }
      char bytes[4096];
      const ssize_t count = ready > 0 ? ::read(pipe_, bytes, sizeof bytes) : 0;
      if (count > 0) {
        read_.append(bytes, static_cast<std::size_t>(count));
      } else if (ready > 0 || errno != EINTR) {
        why = how_it_died();
        return std::nullopt;
      }
    }
  }

 private:
  int end() {
    ::kill(pid_, SIGKILL);
    return wait();
  }

  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  std::string how_it_died() {
    if (pid_ < 0) return "no child process";
    const int status = wait();
    if (WIFSIGNALED(status)) return "the process died: " + std::string(::strsignal(WTERMSIG(status)));
    return "the process ended with code " + std::to_string(WEXITSTATUS(status));
  }

  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string read_;
};

}  // namespace

std::vector<Outcome> run_isolated(std::size_t count, const std::function<Outcome(std::size_t)>& work,
                                  std::chrono::milliseconds patience) {
  std::vector<Outcome> outcomes;
  while (outcomes.size() < count) {
    Child child(outcomes.size(), count, work);
    while (outcomes.size() < count) {
      std::string why;
      if (const auto line = child.next_line(patience, why)) {
        outcomes.push_back(of_line(*line));
      } else {
        outcomes.push_back(failed(why));
        break;
      }
    }
  }
  return outcomes;
}

}  // namespace collage::conformance
