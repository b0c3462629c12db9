// Preloaded into the program and its workers: they run as on a kernel, or in a container, without some system calls.
// COLLAGE_MISSING_CALLS=openat2,seccomp,landlock names them; they fail with COLLAGE_MISSING_ERROR, a number of errno,
// by default ENOSYS. Containers give EPERM.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

int number_of(std::string_view name) {
  if (name == "openat2") return SYS_openat2;
  if (name == "seccomp") return SYS_seccomp;
  if (name == "landlock") return SYS_landlock_create_ruleset;
  std::fprintf(stderr, "missing_calls: no call '%.*s'\n", static_cast<int>(name.size()), name.data());
  std::abort();
}

__attribute__((constructor)) void take_calls() {
  const char* const names = std::getenv("COLLAGE_MISSING_CALLS");
  if (names == nullptr) return;
  const char* const error = std::getenv("COLLAGE_MISSING_ERROR");
  const auto answer = SECCOMP_RET_ERRNO | static_cast<unsigned>(error == nullptr ? ENOSYS : std::atoi(error));
  std::vector<sock_filter> program = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (std::string_view rest = names; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(name.size() + (name.size() < rest.size() ? 1 : 0));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number_of(name)), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  // By prctl, which works in a worker, too, whose program has lost the call seccomp already. Where a kernel has no
  // filters, the program runs with what it has.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    std::perror("missing_calls");
}

}  // namespace
