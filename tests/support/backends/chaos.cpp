#include "chaos.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace collage::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLeakBytes = std::size_t{48} << 20;

void crash() {
  ::signal(SIGSEGV, SIG_DFL);  // sanitisers and crash reporters would exit with a status instead
  ::raise(SIGSEGV);
}

void be_deaf() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_IGN);
  for (;;) ::sleep(1);
}

/// Behind one block of the heap, into what the allocator keeps of the next, which it finds out when that one is freed.
void overrun_heap() {
  std::array<char*, 64> blocks;
  for (char*& block : blocks) block = static_cast<char*>(std::malloc(1000));
  std::ranges::sort(blocks);
  const auto is_next = [](const char* a, const char* b) { return b - a <= 1024; };
  const auto pair = std::ranges::adjacent_find(blocks, is_next);
  auto* const block = static_cast<volatile char*>(*pair);
  for (std::size_t i = 0; i < 1024; ++i) block[i] = 0x41;
  std::free(*std::next(pair));
  std::abort();  // an allocator that did not notice
}

void on_signal(int) {}

void change_state() {
  std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  ::signal(SIGUSR1, on_signal);
  (void)!::chdir("/");
  ::umask(0);
  ::setenv("OMP_NUM_THREADS", "77", 1);
}

/// Reachable, so that leak checkers of the tests' own process are content.
void leak_memory() {
  static std::vector<std::unique_ptr<char[]>> kept;
  kept.push_back(std::make_unique<char[]>(kLeakBytes));
  std::memset(kept.back().get(), 1, kLeakBytes);
}

void print() {
  std::fputs("a library's banner \x01\xff{\"type\":\"result\"}\n", stdout);
  std::fflush(stdout);
  std::fputs("rubbish \x02\xfe\n", stderr);
}

void start_slowly() {
  static std::atomic<bool> started = false;
  if (!started.exchange(true)) std::this_thread::sleep_for(300ms);
}

void drift() {
  static std::atomic<int> calls = 0;
  std::this_thread::sleep_for(std::min(20us * ++calls, std::chrono::microseconds(2000)));
}

/// A child in a session of its own, out of reach of whoever ends the process group.
void leave_child() {
  static std::atomic<int> children = 0;
  if (++children > 20) return;
  if (::fork() == 0) {
    ::setsid();
    for (;;) ::sleep(1);
  }
}

void go_well_once() {
  static std::atomic<int> calls = 0;
  if (++calls > 1) crash();
}

void spin_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void spin_in_threads() {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { spin_for(1ms); });
}

void leave_threads() {
  for (int i = 0; i < 2; ++i) std::thread([] { spin_for(1h); }).detach();
}

struct Action {
  std::string_view kind;
  void (*act)();
};

constexpr std::array kActions = {
    Action{"crash", crash},
    Action{"abort", [] { std::abort(); }},
    Action{"exit", [] { std::_Exit(0); }},
    Action{"throw", [] { throw std::runtime_error("a library's exception"); }},
    Action{"deaf", be_deaf},
    Action{"overrun", overrun_heap},
    Action{"state", change_state},
    Action{"leak-memory", leak_memory},
    Action{"leak-descriptors", [] { (void)::open("/dev/null", O_RDONLY | O_CLOEXEC); }},
    Action{"print", print},
    Action{"slow-start", start_slowly},
    Action{"slow-drift", drift},
    Action{"fork", leave_child},
    Action{"once", go_well_once},
    Action{"threads", spin_in_threads},
    Action{"threads-left", leave_threads},
};

constexpr std::array<std::string_view, 6> kStages = {"probe", "propose", "compile", "load", "verify", "run"};

}  // namespace

Fault Fault::parse(const std::string& text) {
  const std::size_t dash = text.find('-');
  const std::string stage = text.substr(0, dash);
  if (dash == std::string::npos || std::ranges::find(kStages, stage) == kStages.end()) return {.stage = text};
  return {.stage = stage, .kind = text.substr(dash + 1)};
}

void misbehave_in_process(std::string_view kind) {
  for (const Action& action : kActions)
    if (action.kind == kind) action.act();
}

}  // namespace collage::test
