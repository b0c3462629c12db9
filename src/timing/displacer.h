// Evicts from the caches what a kernel left there, as the rest of its model does between two runs of it. A kernel that
// is timed in a loop finds its weights in the cache; in a plan it may have to read them from memory.
// In:  how many bytes the rest of the model reads, and where the kernel's constants lie, if that is known.
// Out: caches that hold other data.
// How: reads as many bytes. Where that leaves nothing in the last-level cache, flushing the constants does the same.
// Cost: reading takes 50 to 100 us for each MiB, at most for twice the size of the last-level cache; flushing takes
//       100 us for each MiB of constants, and what it takes to read twice the private cache.
// Source: reuse distances as in Mattson et al., Evaluation Techniques for Storage Hierarchies, 1970.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// One thread.
class Displacer {
 public:
  explicit Displacer(std::int64_t bytes, const CacheSizes& caches = cache_sizes()) : bytes_(bytes), caches_(caches) {}
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Reads so many bytes of a buffer of its own, which the first call allocates. Does nothing if that fails.
  void run();
  /// The same for a kernel of which these are all constants, but for code, which may stay in the last-level cache.
  void run_for(std::span<const std::span<const std::byte>> constants);

 private:
  [[nodiscard]] bool empties_last_cache();
  [[nodiscard]] bool is_like_flushing();
  void read(std::int64_t bytes);

  std::int64_t bytes_;
  CacheSizes caches_;
  std::optional<bool> empties_last_cache_;
  std::int64_t allocated_ = 0;
  Pages memory_;
};

/// Brings bytes into the caches by reading them from the first to the last.
void read_through(std::span<const std::byte> bytes);
/// Evicts the cache lines of these bytes from all caches of the machine.
void flush(std::span<const std::byte> bytes);

}  // namespace collage
