// Takes from this process all that reading and computing does not need, for good: where code of others works on the
// bytes of a file that nobody vouches for.
// In:  the folders that stay readable. Out: which means the kernel has.
// How: a filter over system calls (seccomp) lets through what reads open files, allocates memory and ends; opening for
//       writing, sockets, new processes, programs and machine code are errors. Landlock, where the kernel has it,
//       leaves no other file readable than those beneath the folders.
// Not here: limits on memory, time and file sizes (worker/limits.h).
#pragma once

#include <span>
#include <string>

namespace collage {

struct Confinement {
  bool calls = false;  ///< the filter over system calls is at work
  bool files = false;  ///< only the folders are readable
};

/// Holds for all threads of the process as far as `calls` goes, for this one and those it starts as far as `files`
/// does. Descriptors that are open stay open.
[[nodiscard]] Confinement confine_process(std::span<const std::string> folders);

}  // namespace collage
