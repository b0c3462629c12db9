#include "base/bit_set.h"

#include <algorithm>

#include "base/hash.h"

namespace collage {

bool BitSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

std::size_t BitSet::count() const {
  std::size_t total = 0;
  for (std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
  return total;
}

std::size_t BitSet::next(std::size_t from) const {
  if (from >= size_) return size_;
  std::size_t w = from / 64;
  std::uint64_t word = words_[w] & (~std::uint64_t{0} << (from % 64));
  while (word == 0) {
    if (++w == words_.size()) return size_;
    word = words_[w];
  }
  return w * 64 + static_cast<std::size_t>(std::countr_zero(word));
}

bool BitSet::intersects(const BitSet& other) const {
  for (std::size_t w = 0; w < words_.size(); ++w)
    if (words_[w] & other.words_[w]) return true;
  return false;
}

bool BitSet::is_subset_of(const BitSet& other) const {
  for (std::size_t w = 0; w < words_.size(); ++w)
    if (words_[w] & ~other.words_[w]) return false;
  return true;
}

std::vector<std::size_t> BitSet::members() const {
  std::vector<std::size_t> result;
  result.reserve(count());
  for (std::size_t i = next(); i < size_; i = next(i + 1)) result.push_back(i);
  return result;
}

std::uint64_t BitSet::hash() const { return hash_bytes(words_.data(), words_.size() * sizeof(std::uint64_t)); }

BitSet& BitSet::operator|=(const BitSet& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  return *this;
}

BitSet& BitSet::operator&=(const BitSet& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
  return *this;
}

BitSet& BitSet::operator-=(const BitSet& other) {
  for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  return *this;
}

std::strong_ordering BitSet::operator<=>(const BitSet& other) const {
  if (auto by_size = size_ <=> other.size_; by_size != 0) return by_size;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    const std::uint64_t difference = words_[w] ^ other.words_[w];
    if (difference == 0) continue;
    const std::uint64_t first = difference & (~difference + 1);
    return (words_[w] & first) ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return std::strong_ordering::equal;
}

}  // namespace collage
