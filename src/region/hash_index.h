// A hash table from items to their positions in a growing list. Only items with equal hashes are compared.
// In:  the hashes of items, in the order in which they are added. Out: positions. Cost: one probe of a flat table each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace collage {

class HashIndex {
 public:
  /// The first item with this hash for which `same(position)` holds.
  template <class Same>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t hash, Same&& same) const {
    if (slots_.empty()) return std::nullopt;
    for (std::size_t slot = hash & mask(); slots_[slot] != 0; slot = (slot + 1) & mask())
      if (const std::uint32_t position = slots_[slot] - 1; hashes_[position] == hash && same(position)) return position;
    return std::nullopt;
  }

  /// The next item of the list has this hash.
  void add(std::uint64_t hash) {
    hashes_.push_back(hash);
    if (hashes_.size() * 2 > slots_.size()) return grow();
    place(static_cast<std::uint32_t>(hashes_.size() - 1));
  }

 private:
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  void place(std::uint32_t position) {
    std::size_t slot = hashes_[position] & mask();
    while (slots_[slot] != 0) slot = (slot + 1) & mask();
    slots_[slot] = position + 1;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
    for (std::uint32_t position = 0; position < hashes_.size(); ++position) place(position);
  }

  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  ///< position + 1; 0 = free
};

}  // namespace collage
