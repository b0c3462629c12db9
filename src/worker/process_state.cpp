#include "worker/process_state.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

extern char** environ;

namespace collage {
namespace {

constexpr int kSignals = 64;

std::string current_folder() {
  char* const name = ::getcwd(nullptr, 0);
  std::string folder = name != nullptr ? name : "";
  std::free(name);
  return folder;
}

/// Read from /proc: umask(2) can only be read by changing it, under the feet of other threads.
mode_t current_umask() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Umask:"))
      return static_cast<mode_t>(std::strtoul(line.c_str() + std::strlen("Umask:"), nullptr, 8));
  return 0;
}

bool is_watched(std::string_view variable) {
  constexpr std::string_view kPrefixes[] = {"OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "TBB_", "LC_"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::map<std::string, std::string> watched_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && is_watched(text))
      found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

std::string current_locale() {
  const char* const name = std::setlocale(LC_ALL, nullptr);
  return name != nullptr ? name : "";
}

bool is_same(const struct sigaction& a, const struct sigaction& b) {
  constexpr int kRestorer = 0x04000000;  // set by the C library whenever a handler is set, also to the default
  return a.sa_handler == b.sa_handler && (a.sa_flags & ~kRestorer) == (b.sa_flags & ~kRestorer);
}

bool is_same(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal <= kSignals; ++signal)
    if (::sigismember(&a, signal) != ::sigismember(&b, signal)) return false;
  return true;
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

void restore_environment(const std::map<std::string, std::string>& wanted) {
  for (const auto& [name, value] : watched_environment())
    if (!wanted.contains(name)) ::unsetenv(name.c_str());
  for (const auto& [name, value] : wanted) ::setenv(name.c_str(), value.c_str(), 1);
}

/// Of this process, whichever of its threads started them.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* const threads = ::opendir("/proc/self/task");
  if (threads == nullptr) return found;
  while (const dirent* entry = ::readdir(threads)) {
    std::ifstream list(std::string("/proc/self/task/") + entry->d_name + "/children");
    for (pid_t pid = 0; list >> pid;) found.push_back(pid);
  }
  ::closedir(threads);
  return found;
}

bool has_children() {
  siginfo_t ignored;
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace

std::uint32_t float_control() {
#if defined(__x86_64__)
  constexpr std::uint32_t kSticky = 0x3F;
  return _mm_getcsr() & ~kSticky;
#else
  return static_cast<std::uint32_t>(std::fegetround());
#endif
}

void set_float_control(std::uint32_t control) {
#if defined(__x86_64__)
  // The older unit has a rounding mode of its own, which fesetround() sets together with this one.
  constexpr int kRoundings[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  std::fesetround(kRoundings[(control >> 13) & 3]);
  _mm_setcsr(control);
#else
  std::fesetround(static_cast<int>(control));
#endif
}

ProcessState process_state() {
  ProcessState state;
  state.float_control = float_control();
  state.locale = current_locale();
  state.folder = current_folder();
  state.umask = current_umask();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &state.blocked);
  for (int signal = 1; signal <= kSignals; ++signal)
    ::sigaction(signal, nullptr, &state.handlers[static_cast<std::size_t>(signal - 1)]);
  ::sched_getaffinity(0, sizeof state.affinity, &state.affinity);
  state.environment = watched_environment();
  return state;
}

std::vector<std::string> differences(const ProcessState& before, const ProcessState& after) {
  std::vector<std::string> found;
  const auto look = [&](bool is_same, std::string what) {
    if (!is_same) found.push_back(std::move(what));
  };
  look(before.float_control == after.float_control, "rounding or flush-to-zero");
  look(before.locale == after.locale, "locale");
  look(before.folder == after.folder, "working directory");
  look(before.umask == after.umask, "umask");
  look(is_same(before.blocked, after.blocked), "blocked signals");
  for (std::size_t s = 0; s < before.handlers.size(); ++s)
    look(is_same(before.handlers[s], after.handlers[s]), "handler of " + signal_name(static_cast<int>(s) + 1));
  look(CPU_EQUAL(&before.affinity, &after.affinity) != 0, "affinity");
  look(before.environment == after.environment, "environment");
  return found;
}

void restore(const ProcessState& state) {
  const ProcessState now = process_state();
  if (now.float_control != state.float_control) set_float_control(state.float_control);
  if (now.locale != state.locale) std::setlocale(LC_ALL, state.locale.c_str());
  if (now.folder != state.folder) (void)!::chdir(state.folder.c_str());
  if (now.umask != state.umask) ::umask(state.umask);
  if (!is_same(now.blocked, state.blocked)) ::pthread_sigmask(SIG_SETMASK, &state.blocked, nullptr);
  for (std::size_t s = 0; s < state.handlers.size(); ++s)
    if (!is_same(now.handlers[s], state.handlers[s])) ::sigaction(static_cast<int>(s) + 1, &state.handlers[s], nullptr);
  if (CPU_EQUAL(&now.affinity, &state.affinity) == 0) ::sched_setaffinity(0, sizeof state.affinity, &state.affinity);
  if (now.environment != state.environment) restore_environment(state.environment);
}

std::size_t end_children() {
  constexpr int kRounds = 20;  // orphans of those that end come up as children in the next round
  std::size_t count = 0;
  for (int round = 0; round < kRounds && has_children(); ++round) {
    const std::vector<pid_t> found = children();
    for (const pid_t child : found) ::kill(child, SIGKILL);
    for (const pid_t child : found) count += ::waitpid(child, nullptr, 0) == child ? 1 : 0;
  }
  return count;
}

std::string StateWatch::settle() {
  std::vector<std::string> changed = differences(state_, process_state());
  if (!changed.empty()) restore(state_);
  if (end_children() > 0) changed.emplace_back("a process left behind");
  std::string text;
  for (const std::string& one : changed) text += (text.empty() ? "" : ", ") + one;
  return text;
}

bool StateWatch::settle_float_control() const {
  if (float_control() == state_.float_control) return false;
  set_float_control(state_.float_control);
  return true;
}

}  // namespace collage
