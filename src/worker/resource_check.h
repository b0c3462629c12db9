// Finds kernels that leak resources or use more processors than they were given.
// In:  a kernel that has run before, as a function. Out: nothing, or a refusal with reason kResources.
// How: a library may start threads, open files and fill caches at its first use, so only a kernel that has run before
//       is checked. What grows during a batch of runs is checked again with further batches; only what grows in each of
//       them is refused.
// Cost: reading a few files of /proc and 300 us of runs; some milliseconds more when the first batch looks suspicious.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.h"
#include "region/refusal.h"

namespace collage {

/// The resources that the process holds and has used.
struct Usage {
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
  std::int64_t private_bytes = 0;  ///< resident memory without mapped files
  std::int64_t cpu_ns = 0;         ///< of all threads
  std::int64_t wall_ns = 0;
};

[[nodiscard]] Usage usage_now();

/// Judges a kernel that is warm. `before` is usage_now() from before its last check, so that a long run need not be
/// repeated. kResources, "leaks ..." or "keeps N processors busy"; nothing also when a run fails.
[[nodiscard]] std::optional<Refusal> check_resources(const Usage& before, int threads,
                                                     const std::function<Result<void>()>& run);

/// True when a process holds so many resources that it should be replaced by a new one.
[[nodiscard]] bool has_leaked_much();

}  // namespace collage
