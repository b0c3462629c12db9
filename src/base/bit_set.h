// A set of small integers below a fixed bound, stored as one bit each in 64-bit words. Regions and search states are
// such sets.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace collage {

class BitSet {
 public:
  BitSet() = default;
  /// An empty set over the universe [0, size).
  explicit BitSet(std::size_t size) : size_(size), words_((size + 63) / 64, 0) {}

  [[nodiscard]] std::size_t universe() const { return size_; }
  [[nodiscard]] bool contains(std::size_t i) const { return (words_[i / 64] >> (i % 64)) & 1U; }
  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void erase(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::size_t count() const;
  /// First member at or after `from`; universe() when there is none.
  [[nodiscard]] std::size_t next(std::size_t from = 0) const;
  [[nodiscard]] bool intersects(const BitSet& other) const;
  [[nodiscard]] bool is_subset_of(const BitSet& other) const;
  [[nodiscard]] std::vector<std::size_t> members() const;
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  [[nodiscard]] std::uint64_t hash() const;

  BitSet& operator|=(const BitSet& other);
  BitSet& operator&=(const BitSet& other);
  BitSet& operator-=(const BitSet& other);
  friend BitSet operator|(BitSet a, const BitSet& b) { return a |= b; }
  friend BitSet operator&(BitSet a, const BitSet& b) { return a &= b; }
  friend BitSet operator-(BitSet a, const BitSet& b) { return a -= b; }
  bool operator==(const BitSet&) const = default;
  /// Lexicographic by member: the set with the smaller first differing member comes first.
  std::strong_ordering operator<=>(const BitSet& other) const;

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace collage
