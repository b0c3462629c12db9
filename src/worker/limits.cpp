#include "worker/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace collage {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

void lower(pid_t process, __rlimit_resource what, std::int64_t most) {
  rlimit now{};
  if (::prlimit(process, what, nullptr, &now) != 0) return;
  const rlim_t wanted = std::min(now.rlim_max, static_cast<rlim_t>(most));
  const rlimit limit{.rlim_cur = std::min(now.rlim_cur, wanted), .rlim_max = wanted};
  ::prlimit(process, what, &limit, nullptr);
}

/// A file that holds one number; kNoLimit for "max" and for no file.
std::int64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? number : kNoLimit;
}

std::int64_t free_on_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::atoll(line.c_str() + sizeof("MemAvailable:")) * 1024;
  return kNoLimit;
}

/// Of the group this process is in, as version 2 or version 1 of the interface tells it.
std::int64_t free_in_group() {
  std::ifstream file("/proc/self/cgroup");
  std::int64_t least = kNoLimit;
  for (std::string line; std::getline(file, line);) {
    const bool is_v2 = line.starts_with("0::");
    const std::size_t v1 = line.find(":memory:");
    if (!is_v2 && v1 == std::string::npos) continue;
    const std::string inside = line.substr(is_v2 ? 3 : v1 + 8);
    // In a container the group's own path is often mounted as the root.
    for (const std::string& group : {inside, std::string("/")}) {
      const std::string folder = (is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") + group + "/";
      const std::int64_t most = number_in(folder + (is_v2 ? "memory.max" : "memory.limit_in_bytes"));
      const std::int64_t used = number_in(folder + (is_v2 ? "memory.current" : "memory.usage_in_bytes"));
      if (most != kNoLimit && used != kNoLimit) least = std::min(least, std::max<std::int64_t>(most - used, 0));
    }
  }
  return least;
}

bool environment_has(const char* pid, const std::string& entry) {
  const std::string path = std::string("/proc/") + pid + "/environ";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::string text(1, '\0');
  std::array<char, 4096> block;
  for (ssize_t got = 0; (got = ::read(file, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(got));
  ::close(file);
  return text.find('\0' + entry + '\0') != std::string::npos;
}

}  // namespace

void limit_process(pid_t process, const WorkerLimits& limits) {
  lower(process, RLIMIT_FSIZE, limits.file_bytes);
  lower(process, RLIMIT_NOFILE, limits.descriptors);
  lower(process, RLIMIT_CPU, limits.cpu_seconds);
}

bool leave_network() {
#if defined(__x86_64__)
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EACCES;
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kArch = static_cast<std::uint32_t>(offsetof(seccomp_data, arch));
  constexpr auto kFamily = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  // Other instruction sets are not filtered, because no code here uses them. io_uring can open sockets without the
  // call.
  std::array<sock_filter, 11> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFamily),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, kRefuse),
  }};
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  // Without this flag older kernels slow down what runs under a filter, and what is measured here must be as fast as
  // outside.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) == 0;
#else
  return false;
#endif
}

std::int64_t available_memory() { return std::min(free_on_machine(), free_in_group()); }

std::int64_t private_bytes(pid_t process) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/%d/statm", process);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 256> text{};
  const ssize_t got = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  long long resident = 0;
  long long shared = 0;
  if (got <= 0 || std::sscanf(text.data(), "%*s %lld %lld", &resident, &shared) != 2) return 0;
  return (resident - shared) * ::sysconf(_SC_PAGESIZE);
}

void end_marked(const char* name, const char* value) {
  const std::string entry = std::string(name) + "=" + value;
  constexpr int kRounds = 5;  // one that starts others while it is looked for
  for (int round = 0; round < kRounds; ++round) {
    bool found = false;
    DIR* const processes = ::opendir("/proc");
    if (processes == nullptr) return;
    while (const dirent* process = ::readdir(processes)) {
      if (process->d_name[0] < '1' || process->d_name[0] > '9' || !environment_has(process->d_name, entry)) continue;
      found |= ::kill(static_cast<pid_t>(std::atoi(process->d_name)), SIGKILL) == 0;
    }
    ::closedir(processes);
    if (!found) return;
  }
}

}  // namespace collage
