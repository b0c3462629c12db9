// Does many tasks in child processes, so that one that ends or hangs the process is found and the others go on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace collage::testing {

struct ChildAnswer {
  enum class End { kAnswered, kDied, kHung };
  End end = End::kAnswered;
  std::string text;    ///< what the task gave, or how the process ended
  double seconds = 0;  ///< how long the task took, where it answered
};

struct ChildLimits {
  double seconds = 10;
  std::size_t bytes = std::size_t{2} << 30;  ///< of memory beyond what the process has already; not under a sanitiser
  std::size_t tasks = 1000;  ///< of one child: what libraries keep for later is not the next task's memory
};

/// The answers of task(0) to task(count - 1). One child does many tasks and is replaced when it ends or takes too long.
std::vector<ChildAnswer> answers_of_children(std::size_t count, const ChildLimits& limits,
                                             const std::function<std::string(std::size_t)>& task);

}  // namespace collage::testing
