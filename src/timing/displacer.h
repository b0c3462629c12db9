// Evicts from the caches what a kernel left there, as the rest of its model does between two runs of it. A kernel that
// is timed in a loop finds its weights in the cache; in a plan it may have to read them from memory.
// In:  how many bytes the rest of the model reads. Out: caches that hold other data.
// Cost: reading that many bytes, at most twice the size of the last-level cache: a few milliseconds.
// Source: reuse distances as in Mattson et al., Evaluation Techniques for Storage Hierarchies, 1970.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/pages.h"

namespace collage {

struct CacheSizes {
  std::int64_t private_bytes;  ///< of the last cache that a core has alone
  std::int64_t last_bytes;
};
/// What the system says, else 1 MiB and 32 MiB.
[[nodiscard]] CacheSizes cache_sizes();

/// What to displace for a model with so many bytes of weights: a power of two, so that few states of the caches are
/// told apart; 0 where all of the model stays in a core's own cache; no more than empties the last cache.
[[nodiscard]] std::int64_t displaced_bytes(std::int64_t weight_bytes, const CacheSizes& caches);

class Displacer {
 public:
  /// Reads so many bytes of its own each time. Without memory for them it does nothing.
  explicit Displacer(std::int64_t bytes);
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void run() const;

 private:
  std::int64_t bytes_;
  Pages memory_;
};

/// Brings bytes into the caches by reading them, the first first.
void read_through(std::span<const std::byte> bytes);

}  // namespace collage
