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
  std::int64_t private_bytes;  ///< of the largest cache that is private to a core
  std::int64_t last_bytes;
};
/// As reported by the system, else 1 MiB and 32 MiB.
[[nodiscard]] CacheSizes cache_sizes();

/// How many bytes to displace for a model with this many bytes of weights: a power of two, so that costs are stored for
/// few different values; 0 if the whole model fits in a core's private cache; at most what empties the last-level
/// cache.
[[nodiscard]] std::int64_t displaced_bytes(std::int64_t weight_bytes, const CacheSizes& caches);

class Displacer {
 public:
  /// Reads this many bytes of its own buffer at each call. Does nothing if the buffer cannot be allocated.
  explicit Displacer(std::int64_t bytes);
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void run() const;

 private:
  std::int64_t bytes_;
  Pages memory_;
};

/// Brings bytes into the caches by reading them from the first to the last.
void read_through(std::span<const std::byte> bytes);

}  // namespace collage
