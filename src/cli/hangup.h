// Calls a function whenever the process gets SIGHUP, by which operators ask a server to read its files again.
#pragma once

#include <functional>
#include <thread>

namespace collage::cli {

/// From now on the signal waits for a watcher. To be called before other threads are made, so that none of them takes
/// it.
void hold_hangups();

/// After hold_hangups(); acts on a signal that waits, too.
class HangupWatcher {
 public:
  /// `act` is called on a thread of its own, once for all signals that came while it ran.
  explicit HangupWatcher(std::function<void()> act);
  ~HangupWatcher();
  HangupWatcher(const HangupWatcher&) = delete;
  HangupWatcher& operator=(const HangupWatcher&) = delete;

 private:
  void watch(const std::function<void()>& act) const;

  int signals_ = -1;
  int end_ = -1;
  std::thread thread_;
};

}  // namespace collage::cli
