// A set of positions that is nearly a prefix of all positions, such as the nodes covered by a search that proceeds from
// front to back. Only the words after the full ones are stored, so a set takes a few bytes whatever the graph's size.
// In:  positions, mostly ascending. Out: the set, its hash, its first gap.
// Cost: linear in the words behind the first gap.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace collage {

class PrefixSet {
 public:
  [[nodiscard]] bool contains(std::uint32_t position) const {
    const std::uint32_t word = position / 64;
    if (word < full_) return true;
    if (word - full_ >= words_.size()) return false;
    return (words_[word - full_] >> (position % 64)) & 1U;
  }
  [[nodiscard]] std::uint32_t first_missing() const;
  [[nodiscard]] bool intersects(std::span<const std::uint32_t> positions) const;
  void insert(std::span<const std::uint32_t> positions);
  [[nodiscard]] std::uint64_t hash() const;

  auto operator<=>(const PrefixSet&) const = default;

 private:
  void normalise();

  std::uint32_t full_ = 0;            ///< words that hold every position and are not stored
  std::vector<std::uint64_t> words_;  ///< from there on; the first is not full, the last not empty
};

}  // namespace collage
