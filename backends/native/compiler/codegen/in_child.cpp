#include "compiler/codegen/in_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "backend/backend.h"

namespace collage::native {
namespace {

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(count));
  }
}

[[noreturn]] void be_child(const std::function<std::string()>& work, int out, pid_t parent) {
  // Whoever ends a worker that takes too long ends its copies.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const auto made = guard(work);
  if (made) write_all(out, *made);
  ::_exit(made ? 0 : 1);
}

std::string words_of(int status) {
  if (WIFSIGNALED(status)) return std::string("the compiler died: ") + ::strsignal(WTERMSIG(status));
  return "the compiler ended without an answer";
}

}  // namespace

std::expected<std::string, std::string> in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(std::string("pipe: ") + std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) be_child(work, ends[1], parent);
  const std::string problem = child < 0 ? std::strerror(errno) : "";
  ::close(ends[1]);
  const std::string answer = child < 0 ? "" : read_all(ends[0]);
  ::close(ends[0]);
  if (child < 0) return std::unexpected("fork: " + problem);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::unexpected(words_of(status));
  return answer;
}

}  // namespace collage::native
