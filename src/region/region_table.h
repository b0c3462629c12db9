// A table of the regions of one graph: each region is stored once and found by its nodes.
// In:  regions. Out: dense indices that stay valid. Cost: one hash of the node set for a look-up.
// Source: interning, as compilers do it for types.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "region/hash_index.h"
#include "region/region.h"

namespace collage {

class RegionTable {
 public:
  /// The region that computes these nodes and repeats those (of universe 0 for none).
  [[nodiscard]] std::optional<std::uint32_t> find(const NodeSet& nodes, const NodeSet& repeated = {}) const;
  /// The index of the region; adds it when it is new.
  std::uint32_t intern(Region region);

  [[nodiscard]] const Region& operator[](std::uint32_t index) const { return regions_[index]; }
  [[nodiscard]] std::size_t size() const { return regions_.size(); }
  /// Gives the regions away; the table is empty afterwards.
  [[nodiscard]] std::vector<Region> take();

 private:
  std::vector<Region> regions_;
  HashIndex places_;  ///< by hash of the nodes
};

}  // namespace collage
