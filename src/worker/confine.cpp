#include "worker/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace collage {
namespace {

/// Rights over files that the first version of Landlock knows, and those of later versions, by version.
constexpr std::uint64_t kRightsOfVersion1 = (std::uint64_t{1} << 13) - 1;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;     // 2
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;  // 3
constexpr std::uint64_t kIoctl = std::uint64_t{1} << 15;     // 5

std::uint64_t file_rights(long version) {
  std::uint64_t rights = kRightsOfVersion1;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctl;
  return rights;
}

bool allow_reading(int ruleset, const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_PATH | O_CLOEXEC);
  if (descriptor < 0) return false;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  rule.parent_fd = descriptor;
  const bool is_added = ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  ::close(descriptor);
  return is_added;
}

bool leave_files(std::span<const std::string> folders) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = file_rights(version);
  const int ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0));
  if (ruleset < 0) return false;
  bool is_good = true;
  for (const std::string& folder : folders) is_good &= allow_reading(ruleset, folder);
  is_good = is_good && ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return is_good;
}

#if defined(__x86_64__)

constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

/// What works on open descriptors and on memory, looks at names, waits, and ends; and what a thread that was started
/// before does at its beginning.
constexpr int kFree[] = {SYS_read,
                         SYS_pread64,
                         SYS_readv,
                         SYS_preadv,
                         SYS_write,
                         SYS_pwrite64,
                         SYS_writev,
                         SYS_close,
                         SYS_fstat,
                         SYS_stat,
                         SYS_lstat,
                         SYS_newfstatat,
                         SYS_statx,
                         SYS_lseek,
                         SYS_munmap,
                         SYS_mremap,
                         SYS_madvise,
                         SYS_brk,
                         SYS_futex,
                         SYS_getrandom,
                         SYS_clock_gettime,
                         SYS_gettimeofday,
                         SYS_clock_nanosleep,
                         SYS_nanosleep,
                         SYS_exit,
                         SYS_exit_group,
                         SYS_rt_sigreturn,
                         SYS_rt_sigprocmask,
                         SYS_rt_sigaction,
                         SYS_sigaltstack,
                         SYS_getdents64,
                         SYS_readlink,
                         SYS_readlinkat,
                         SYS_access,
                         SYS_faccessat,
                         SYS_faccessat2,
                         SYS_getcwd,
                         SYS_poll,
                         SYS_ppoll,
                         SYS_sched_yield,
                         SYS_getpid,
                         SYS_gettid,
                         SYS_getppid,
                         SYS_getpgrp,
                         SYS_recvfrom,
                         SYS_restart_syscall,
                         SYS_fadvise64,
                         SYS_sched_getaffinity,
                         SYS_membarrier,
                         SYS_rseq,
                         SYS_pidfd_open,
                         SYS_set_robust_list};

/// Bits of open() that change something.
constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);

/// A filter over system calls, built call by call.
class CallFilter {
 public:
  CallFilter() {
    load(offsetof(seccomp_data, arch));
    jump_unless_equal(AUDIT_ARCH_X86_64, 1);
    skip_next();
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }

  void allow(int call) {
    jump_unless_equal(static_cast<std::uint32_t>(call), 1);
    answer(SECCOMP_RET_ALLOW);
  }
  /// Allowed where none of these bits is in the argument.
  void allow_without(int call, int argument, std::uint32_t bits, std::uint32_t otherwise) {
    jump_unless_equal(static_cast<std::uint32_t>(call), 4);
    load(argument_at(argument));
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    answer(otherwise);
    answer(SECCOMP_RET_ALLOW);
  }
  /// Allowed where the argument is this one.
  void allow_with(int call, int argument, std::uint32_t value) {
    jump_unless_equal(static_cast<std::uint32_t>(call), 4);
    load(argument_at(argument));
    jump_unless_equal(value, 1);
    answer(SECCOMP_RET_ALLOW);
    answer(kRefuse);
  }
  void refuse(int call, int error) {
    jump_unless_equal(static_cast<std::uint32_t>(call), 1);
    answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }

  /// All other calls are errors. False where the kernel has no filters.
  bool install() {
    answer(kRefuse);
    const sock_fprog filter{.len = static_cast<unsigned short>(program_.size()), .filter = program_.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
  }

 private:
  /// The lower half: flags and numbers of processes have no more bits.
  static std::uint32_t argument_at(int argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                      sizeof(std::uint64_t) * static_cast<std::size_t>(argument));
  }
  void load(std::size_t offset) {
    program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void jump_unless_equal(std::uint32_t value, std::uint8_t over) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, over));
  }
  void skip_next() { program_.push_back(BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0)); }
  void answer(std::uint32_t with) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, with)); }

  std::vector<sock_filter> program_;
};

/// `has_folders`: files are kept apart by other means, so that calls whose flags a filter cannot see may open some.
bool leave_calls(bool has_folders) {
  CallFilter filter;
  for (const int call : kFree) filter.allow(call);
  filter.allow_without(SYS_open, 1, kWriting, SECCOMP_RET_ERRNO | EACCES);
  filter.allow_without(SYS_openat, 2, kWriting, SECCOMP_RET_ERRNO | EACCES);
  if (has_folders)
    filter.allow(SYS_openat2);
  else
    filter.refuse(SYS_openat2, ENOSYS);
  filter.allow_without(SYS_mmap, 2, PROT_EXEC, SECCOMP_RET_ERRNO | EACCES);
  filter.allow_without(SYS_mprotect, 2, PROT_EXEC, SECCOMP_RET_ERRNO | EACCES);
  // Answers go to a socket that is open; without an address they go nowhere else.
  filter.allow_with(SYS_sendto, 4, 0);
  // What abort() does, and what ends the process with whoever started it.
  filter.allow_with(SYS_tgkill, 0, static_cast<std::uint32_t>(::getpid()));
  filter.allow_with(SYS_kill, 0, 0);
  filter.refuse(SYS_clone3, ENOSYS);
  return filter.install();
}

#else

bool leave_calls(bool /*has_folders*/) { return false; }

#endif

}  // namespace

Confinement confine_process(std::span<const std::string> folders) {
  Confinement confinement;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) confinement.files = leave_files(folders);
  confinement.calls = leave_calls(confinement.files);
  return confinement;
}

}  // namespace collage
