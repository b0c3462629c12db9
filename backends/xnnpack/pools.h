// Thread pools, one for each number of threads, which all kernels of a backend share.
// In:  a number of threads. Out: a pool, alive as long as somebody holds it.
// Threads: get() may be called from many threads. Runs that share a pool wait for one another: the kernels of a plan
// run
//       in turn anyway, and one pool for each would have more threads than there are processors.
#pragma once

#include <pthreadpool.h>

#include <map>
#include <memory>
#include <mutex>

namespace collage::xnnpack {

using Pool = std::shared_ptr<struct pthreadpool>;

class Pools {
 public:
  /// Null for one thread, which needs none. Throws std::runtime_error when there are no threads to be had.
  [[nodiscard]] Pool get(int threads);

 private:
  std::mutex mutex_;
  std::map<int, std::weak_ptr<struct pthreadpool>> pools_;
};

}  // namespace collage::xnnpack
