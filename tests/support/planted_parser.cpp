// Preloaded into the program and its workers: stands in for protobuf's parser and does there what hostile code would.
// COLLAGE_PLANTED=crash|abort|hang|eat|answer|escape, or "" for nothing.
// "escape" tries everything that a reader of models has no use for and says on stderr what it got; then it crashes.
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void say(const char* what) {
  std::string line = std::string("escaped: ") + what + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void try_files() {
  const char* home = ::getenv("HOME");
  const std::string made = std::string(home == nullptr ? "/tmp" : home) + "/planted";
  if (::open(made.c_str(), O_WRONLY | O_CREAT, 0600) >= 0) say("made a file");
  if (::open(made.c_str(), O_RDONLY | O_CREAT, 0600) >= 0) say("made a file that it only reads");
  if (::open("/tmp", O_TMPFILE | O_RDWR, 0600) >= 0) say("made a file without a name");
  if (::mkdir(made.c_str(), 0700) == 0) say("made a folder");
  if (::symlink("/etc/passwd", made.c_str()) == 0) say("made a link");
  if (const char* model = ::getenv("COLLAGE_PLANTED_MODEL")) {
    if (::open(model, O_RDWR) >= 0) say("opened the model for writing");
    if (::truncate(model, 0) == 0) say("cut the model");
    if (::unlink(model) == 0) say("removed the model");
    if (::rename(model, made.c_str()) == 0) say("moved the model");
    if (::chmod(model, 0777) == 0) say("changed rights");
    if (::open(model, O_RDONLY) < 0) say("nothing, and it cannot read the model either");
  }
  // Without Landlock these can be read; the note of the import says so.
  if (::getenv("COLLAGE_PLANTED_READS") == nullptr && ::open("/etc/passwd", O_RDONLY) >= 0)
    say("read a file elsewhere");
}

void try_network() {
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK})
    if (::socket(family, SOCK_STREAM, 0) >= 0) say("a socket");
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) say("a pair of sockets");
}

void try_processes() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child > 0) say("forked");
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  pid_t spawned = 0;
  if (::posix_spawn(&spawned, name, nullptr, nullptr, arguments, nullptr) == 0) say("started a program");
  if (::kill(::getppid(), 0) == 0) say("could send signals to its parent");
  if (::syscall(SYS_ptrace, 16, ::getppid(), 0, 0) == 0) say("traced its parent");
  if (::syscall(SYS_process_vm_readv, ::getppid(), nullptr, 0, nullptr, 0, 0) >= 0) say("read its parent's memory");
}

void try_code() {
  if (::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
    say("memory for machine code");
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED && ::mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0) say("made memory into code");
}

void eat() {
  for (;;) {
    const std::size_t bytes = std::size_t{16} << 20;
    void* memory = ::malloc(bytes);
    if (memory != nullptr) std::memset(memory, 1, bytes);
    ::usleep(2000);
  }
}

void act() {
  const char* what = ::getenv("COLLAGE_PLANTED");
  const std::string mode = what == nullptr ? "" : what;
  if (mode == "crash") ::raise(SIGSEGV);
  if (mode == "abort") std::abort();
  if (mode == "hang")
    for (;;) {
    }
  if (mode == "eat") eat();
  // The socket to the program that asked is the third descriptor.
  if (mode == "answer") {
    (void)!::write(3, "hello", 5);
    ::_exit(0);
  }
  if (mode == "escape") {
    try_files();
    try_network();
    try_processes();
    try_code();
    ::raise(SIGILL);
  }
}

}  // namespace

// google::protobuf::MessageLite::ParseFromCodedStream(google::protobuf::io::CodedInputStream*)
extern "C" bool _ZN6google8protobuf11MessageLite20ParseFromCodedStreamEPNS0_2io16CodedInputStreamE(void* message,
                                                                                                   void* stream);
extern "C" bool _ZN6google8protobuf11MessageLite20ParseFromCodedStreamEPNS0_2io16CodedInputStreamE(void* message,
                                                                                                   void* stream) {
  act();
  static const auto next = reinterpret_cast<bool (*)(void*, void*)>(
      ::dlsym(RTLD_NEXT, "_ZN6google8protobuf11MessageLite20ParseFromCodedStreamEPNS0_2io16CodedInputStreamE"));
  return next(message, stream);
}
