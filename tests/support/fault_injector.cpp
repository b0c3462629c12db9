// Preloaded into a program under test: makes one of its calls fail, or all from one on.
// COLLAGE_FAULT=KIND:N:once|on: the N-th call of KIND (io, memory), the first being 1; 0 = none fails. Of file calls
// those on standard streams, devices, sockets and what the kernel makes up (/proc, /sys) are left alone. Only the
// process whose first argument is COLLAGE_FAULT_COMMAND is meant, not its workers, and there from the start of main on:
// what libraries allocate for their globals before it can have no answer. COLLAGE_FAULT_COUNT names a file for the
// number of calls at exit.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum class Kind { kNone, kIo, kMemory };

struct Settings {
  Kind kind = Kind::kNone;
  long at = 0;
  bool stays = false;
};

Settings settings;
std::atomic<long> calls{0};

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool is_meant() {
  const char* command = ::getenv("COLLAGE_FAULT_COMMAND");
  char line[4096] = {};
  const int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY));
  if (command == nullptr || file < 0) return false;
  static const auto read_file = next<ssize_t (*)(int, void*, size_t)>("read");
  const ssize_t got = read_file(file, line, sizeof line - 1);
  ::close(file);
  const std::size_t first = ::strlen(line) + 1;
  return got > static_cast<ssize_t>(first) && ::strcmp(line + first, command) == 0;
}

/// A crash says where.
void on_crash(int signal) {
  settings.kind = Kind::kNone;
  void* frames[40];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 40), STDERR_FILENO);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void begin() {
  const char* text = ::getenv("COLLAGE_FAULT");
  if (text == nullptr || !is_meant()) return;
  char kind[16] = {};
  char how[16] = {};
  long at = 0;
  if (std::sscanf(text, "%15[a-z]:%ld:%15[a-z]", kind, &at, how) != 3) return;
  ::signal(SIGSEGV, on_crash);
  settings.at = at;
  settings.stays = ::strcmp(how, "on") == 0;
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);  // loads what it needs, before anything fails
  settings.kind = ::strcmp(kind, "io") == 0 ? Kind::kIo : Kind::kMemory;
}

using Main = int (*)(int, char**, char**);
Main program = nullptr;

int begin_and_run(int count, char** arguments, char** environment) {
  begin();
  return program(count, arguments, environment);
}

__attribute__((destructor)) void end() {
  const char* path = ::getenv("COLLAGE_FAULT_COUNT");
  if (settings.kind == Kind::kNone || path == nullptr) return;
  const long count = calls;
  settings.kind = Kind::kNone;
  if (FILE* file = std::fopen(path, "w"); file != nullptr) {
    std::fprintf(file, "%ld\n", count);
    std::fclose(file);
  }
}

/// True while a library that is not ours is at work: what it does without memory is not ours to answer for.
bool is_library_at_work() {
  thread_local bool is_looking = false;
  if (is_looking) return true;
  is_looking = true;
  void* frames[64];
  const int count = ::backtrace(frames, 64);
  bool found = false;
  for (int i = 0; i < count && !found; ++i) {
    Dl_info info{};
    if (::dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr) continue;
    for (const char* name : {"/libonnxruntime.so", "/libopenvino", "/libtbb", "/libdnnl", "/libgomp", "/libprotobuf"})
      found = found || ::strstr(info.dli_fname, name) != nullptr;
  }
  is_looking = false;
  return found;
}

/// Counts a call of the kind and says whether it fails.
bool fails(Kind kind) {
  if (settings.kind != kind) return false;
  // Libraries' calls are counted too, but the one that fails is ours, or the next that is.
  if (kind == Kind::kMemory && settings.at > 0 && calls + 1 == settings.at && is_library_at_work()) return false;
  const long number = ++calls;
  return settings.at > 0 && (number == settings.at || (settings.stays && number > settings.at));
}

bool is_file(int descriptor) {
  if (descriptor <= 2) return false;
  struct stat status {};
  struct statfs system {};
  return ::fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) &&
         ::fstatfs(descriptor, &system) == 0 && system.f_type != PROC_SUPER_MAGIC && system.f_type != SYSFS_MAGIC;
}

bool is_ours(const char* path) {
  for (const char* other : {"/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib"})
    if (::strncmp(path, other, ::strlen(other)) == 0) return false;
  return ::strstr(path, ".so") == nullptr;
}

int failed(int error) {
  errno = error;
  return -1;
}

mode_t mode_of(int flags, va_list list) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(list, int)) : 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

#define OPEN(name)                                                        \
  EXPORTED int name(const char* path, int flags, ...) {                   \
    va_list list;                                                         \
    va_start(list, flags);                                                \
    const mode_t mode = mode_of(flags, list);                             \
    va_end(list);                                                         \
    if (is_ours(path) && fails(Kind::kIo)) return failed(EIO);            \
    static const auto real = next<int (*)(const char*, int, ...)>(#name); \
    return real(path, flags, mode);                                       \
  }
OPEN(open)
OPEN(open64)

#define ON_DESCRIPTOR(result, name, error, parameters, arguments)      \
  EXPORTED result name parameters {                                    \
    if (is_file(descriptor) && fails(Kind::kIo)) return failed(error); \
    static const auto real = next<result(*) parameters>(#name);        \
    return real arguments;                                             \
  }
ON_DESCRIPTOR(ssize_t, read, EIO, (int descriptor, void* out, size_t size), (descriptor, out, size))
ON_DESCRIPTOR(ssize_t, pread, EIO, (int descriptor, void* out, size_t size, off_t at), (descriptor, out, size, at))
ON_DESCRIPTOR(ssize_t, pread64, EIO, (int descriptor, void* out, size_t size, off64_t at), (descriptor, out, size, at))
ON_DESCRIPTOR(ssize_t, write, ENOSPC, (int descriptor, const void* bytes, size_t size), (descriptor, bytes, size))
ON_DESCRIPTOR(ssize_t, pwrite, ENOSPC, (int descriptor, const void* bytes, size_t size, off_t at),
              (descriptor, bytes, size, at))
ON_DESCRIPTOR(ssize_t, pwrite64, ENOSPC, (int descriptor, const void* bytes, size_t size, off64_t at),
              (descriptor, bytes, size, at))
ON_DESCRIPTOR(int, fsync, EIO, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, fdatasync, EIO, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, ftruncate, EIO, (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(int, ftruncate64, EIO, (int descriptor, off64_t size), (descriptor, size))

EXPORTED void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if ((flags & MAP_ANONYMOUS) == 0 && is_file(descriptor) && (protection & PROT_EXEC) == 0 && fails(Kind::kIo)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  return real(address, size, protection, flags, descriptor, offset);
}

#define ON_PATH(name, parameters, arguments)                   \
  EXPORTED int name parameters {                               \
    if (is_ours(path) && fails(Kind::kIo)) return failed(EIO); \
    static const auto real = next<int(*) parameters>(#name);   \
    return real arguments;                                     \
  }
ON_PATH(rename, (const char* path, const char* to) noexcept, (path, to))
ON_PATH(unlink, (const char* path) noexcept, (path))
ON_PATH(mkdir, (const char* path, mode_t mode) noexcept, (path, mode))

EXPORTED int __libc_start_main(Main main, int count, char** arguments, void (*init)(), void (*fini)(),
                               void (*rtld_fini)(), void* stack_end) {
  program = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(begin_and_run, count, arguments, init, fini, rtld_fini, stack_end);
}

EXPORTED void* __libc_malloc(size_t size);
EXPORTED void* __libc_calloc(size_t count, size_t size);
EXPORTED void* __libc_realloc(void* old, size_t size);
EXPORTED void* __libc_memalign(size_t alignment, size_t size);

EXPORTED void* malloc(size_t size) {
  if (!fails(Kind::kMemory)) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}
EXPORTED void* calloc(size_t count, size_t size) {
  if (!fails(Kind::kMemory)) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}
EXPORTED void* realloc(void* old, size_t size) {
  if (!fails(Kind::kMemory)) return __libc_realloc(old, size);
  errno = ENOMEM;
  return nullptr;
}
EXPORTED void* aligned_alloc(size_t alignment, size_t size) {
  if (!fails(Kind::kMemory)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}
