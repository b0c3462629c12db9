#include "cli/interrupt.h"

#include <csignal>
#include <thread>

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"

namespace collage::cli {
namespace {

/// Waits for signals on a thread of its own, where everything is allowed that a handler may not do.
class Watcher {
 public:
  Watcher() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
    std::thread([this] { watch(); }).detach();
  }
  std::stop_token token() { return source_.get_token(); }

 private:
  void watch() {
    signalfd_siginfo info;
    while (::read(descriptor_, &info, sizeof info) == sizeof info) {
      if (source_.stop_requested()) std::_Exit(static_cast<int>(ExitCode::kInterrupted));
      source_.request_stop();
    }
  }

  std::stop_source source_;
  int descriptor_ = -1;
};

}  // namespace

std::stop_token interrupt_token() {
  // Lives as long as the process: its thread does.
  static Watcher* watcher = new Watcher;
  return watcher->token();
}

}  // namespace collage::cli
