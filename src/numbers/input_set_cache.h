// Caches the input sets of recent regions in a worker. Candidates of one region arrive in several jobs, and computing
// the expected outputs takes longer than timing most candidates.
// In:  a key of region, record and options. Out: its input sets, shared with their users. When all sets together exceed
//       the limit, the least recently used ones are dropped. Not thread-safe.
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

  /// Null when the key is not in the cache.
  [[nodiscard]] SharedInputSets find(const std::string& key);
  /// Precondition: find() returned null for the key. Sets larger than the limit are not kept.
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
  std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace collage
