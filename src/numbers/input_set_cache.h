// The input sets of regions a worker met last: candidates of one region come in several jobs, and what the reference
// expects of it takes longer to compute than most of them take to be timed.
// In: a key that says region, record and options. Out: its sets, which are shared with those who hold them.
// How: the sets used longest ago go when all together take more than the limit.
// Cost: a walk over a few dozen entries.
// Not here: making the sets (input_sets.h). Not thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "numbers/input_sets.h"

namespace collage {

using SharedInputSets = std::shared_ptr<const std::vector<InputSet>>;

class InputSetCache {
 public:
  explicit InputSetCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Null when it is not here.
  [[nodiscard]] SharedInputSets find(const std::string& key);
  /// Precondition: find() has just said that the key is not here. What is larger than the limit is not kept.
  void add(std::string key, SharedInputSets sets);
  void clear();

 private:
  struct Entry {
    std::string key;
    SharedInputSets sets;
    std::size_t bytes = 0;
  };

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> entries_;  ///< used last first
};

}  // namespace collage
