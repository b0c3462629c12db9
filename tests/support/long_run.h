// Tests that draw at random, or try all of many, take a sample by default and everything in a long campaign: ./dev soak
// sets COLLAGE_LONG.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace collage::test {

template <class Count>
[[nodiscard]] Count by_length(Count usual, Count full) {
  return std::getenv("COLLAGE_LONG") != nullptr ? full : usual;
}

/// Every `step`th of a list, always with its first and its last; all in a long campaign.
template <class Element>
[[nodiscard]] std::vector<Element> sample_of(const std::vector<Element>& all, std::size_t step) {
  const std::size_t stride = by_length<std::size_t>(step, 1);
  std::vector<Element> sample;
  for (std::size_t i = 0; i < all.size(); i += stride) sample.push_back(all[i]);
  if (!all.empty() && (all.size() - 1) % stride != 0) sample.push_back(all.back());
  return sample;
}

}  // namespace collage::test
