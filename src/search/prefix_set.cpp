#include "search/prefix_set.h"

#include <algorithm>
#include <bit>

namespace collage {

std::uint32_t PrefixSet::first_missing() const {
  // Normal form: the first stored word has a gap.
  const auto in_word = words_.empty() ? 0 : std::countr_one(words_.front());
  return full_ * 64 + static_cast<std::uint32_t>(in_word);
}

bool PrefixSet::intersects(std::span<const std::uint32_t> positions) const {
  return std::ranges::any_of(positions, [this](std::uint32_t position) { return contains(position); });
}

void PrefixSet::insert(std::span<const std::uint32_t> positions) {
  for (const std::uint32_t position : positions) {
    const std::uint32_t word = position / 64;
    if (word < full_) continue;
    if (word - full_ >= words_.size()) words_.resize(word - full_ + 1, 0);
    words_[word - full_] |= std::uint64_t{1} << (position % 64);
  }
  normalise();
}

void PrefixSet::normalise() {
  const auto gap = std::ranges::find_if(words_, [](std::uint64_t word) { return ~word != 0; });
  full_ += static_cast<std::uint32_t>(gap - words_.begin());
  words_.erase(words_.begin(), gap);
}

std::uint64_t PrefixSet::hash() const {
  std::uint64_t hash = full_ * 0x9e3779b97f4a7c15ULL;
  for (const std::uint64_t word : words_) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32U;
  }
  return hash;
}

}  // namespace collage
