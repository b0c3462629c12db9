// The threads of a program on which the loops of a session run, in place of OpenMP's.
// In:  a function of the program that calls tasks on threads of its own. Out: loops on these threads.
// Threads: a ThreadPool belongs to one session and is used by the thread that runs it. The program's pool behind it may
//       serve many sessions at once.
// Cost: one indirect call and a few atomic operations for each loop. Nothing is allocated.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/float_mode.h"

namespace collage {

/// What a program gives. It outlives the sessions that use it.
struct PoolFunctions {
  /// Calls task(data, index) once for each index below `count`, on any threads, at once or one after the other, and
  /// returns when all calls have returned. May be called from several threads at once, inside a task too.
  void (*parallel_for)(void* pool, std::size_t count, void (*task)(void* data, std::size_t index),
                       void* data) = nullptr;
  void* pool = nullptr;
  int threads = 0;  ///< at most so many tasks in a loop; 0 = as many as the plan has threads
};

class ThreadPool {
 public:
  explicit ThreadPool(const PoolFunctions& functions) : functions_(functions) {}

  /// Into how many tasks a loop is divided that could use `threads`.
  [[nodiscard]] int tasks(int threads) const {
    return functions_.threads > 0 ? std::min(functions_.threads, threads) : threads;
  }

  /// Calls work(index) for each index below `count`; a single one on this thread. `work` does not throw.
  template <class Work>
  void run(std::size_t count, const Work& work) {
    if (count <= 1) {
      if (count == 1) work(std::size_t{0});
      return;
    }
    Loop<Work> loop(work, count);
    try {
      functions_.parallel_for(functions_.pool, count, Loop<Work>::call, &loop);
    } catch (...) {
      has_failed_ = true;
    }
    if (loop.ended.load(std::memory_order_acquire) != count) has_failed_ = true;
  }

  /// Whether the program's function threw, or did not call all tasks, since this was asked last.
  [[nodiscard]] bool take_failure() { return std::exchange(has_failed_, false); }

 private:
  template <class Work>
  struct Loop {
    Loop(const Work& what, std::size_t of) : work(what), count(of) {}
    static void call(void* data, std::size_t index) noexcept {
      auto& loop = *static_cast<Loop*>(data);
      if (index >= loop.count) return;
      const DefaultFloatMode mode;
      loop.work(index);
      loop.ended.fetch_add(1, std::memory_order_release);
    }
    const Work& work;
    std::size_t count;
    std::atomic<std::size_t> ended = 0;
  };

  PoolFunctions functions_;
  bool has_failed_ = false;
};

}  // namespace collage
