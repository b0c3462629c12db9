#include "cli/hangup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace collage::cli {

namespace {

sigset_t hangup_alone() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

void hold_hangups() {
  const sigset_t signals = hangup_alone();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

HangupWatcher::HangupWatcher(std::function<void()> act) {
  const sigset_t signals = hangup_alone();
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this, act = std::move(act)] { watch(act); });
}

HangupWatcher::~HangupWatcher() {
  const std::uint64_t one = 1;
  (void)!::write(end_, &one, sizeof one);
  thread_.join();
  ::close(end_);
  ::close(signals_);
}

void HangupWatcher::watch(const std::function<void()>& act) const {
  for (;;) {
    pollfd wanted[2] = {{.fd = signals_, .events = POLLIN, .revents = 0}, {.fd = end_, .events = POLLIN, .revents = 0}};
    if (::poll(wanted, 2, -1) < 0) continue;
    if (wanted[1].revents != 0) return;
    signalfd_siginfo info;
    if (::read(signals_, &info, sizeof info) == sizeof info) act();
  }
}

}  // namespace collage::cli
