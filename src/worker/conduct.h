// How a kernel behaves once it is warm, beside its numbers: what it takes more of with every run, and how many
// processors it keeps busy. A library's first use makes threads, opens files and fills caches; that is its right. One
// that goes on doing so ends the process that runs it a million times, and one that computes on more processors than
// it was given beats others by what a plan will not give it.
// In: a run. Out: nothing, or a refusal. What looks wrong is looked at again; only what is wrong each time counts.
// Cost: a few files of /proc and 300 us of runs; a run that looks suspicious some milliseconds more.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/error.h"
#include "region/refusal.h"

namespace collage {

/// What the process has and has used so far.
struct Usage {
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
  std::int64_t private_bytes = 0;  ///< resident memory that is not of files
  std::int64_t cpu_ns = 0;         ///< of all threads
  std::int64_t wall_ns = 0;
};

[[nodiscard]] Usage usage_now();

/// Judges a kernel that is warm. `before` is usage_now() from before its last check, so that a long run need not be
/// repeated. kResources, "leaks ..." or "keeps N processors busy"; nothing also when a run fails.
[[nodiscard]] std::optional<Refusal> judge_conduct(const Usage& before, int threads,
                                                   const std::function<Result<void>()>& run);

/// True when a process has gathered so much that it should make room for a fresh one.
[[nodiscard]] bool is_worn_out();

}  // namespace collage
