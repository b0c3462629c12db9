#include "pools.h"

#include <stdexcept>

namespace collage::xnnpack {

Pool Pools::get(int threads) {
  if (threads <= 1) return nullptr;
  const std::lock_guard lock(mutex_);
  std::weak_ptr<struct pthreadpool>& known = pools_[threads];
  if (Pool pool = known.lock()) return pool;
  const pthreadpool_t made = pthreadpool_create(static_cast<std::size_t>(threads));
  if (made == nullptr) throw std::runtime_error("no pool of " + std::to_string(threads) + " threads");
  Pool pool(made, pthreadpool_destroy);
  known = pool;
  return pool;
}

}  // namespace collage::xnnpack
