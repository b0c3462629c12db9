#include "region/region_table.h"

#include <utility>

namespace collage {

std::optional<std::uint32_t> RegionTable::find(const NodeSet& nodes, const NodeSet& repeated) const {
  return places_.find(nodes.hash(), [&](std::uint32_t position) {
    const Region& region = regions_[position];
    return region.nodes == nodes && region.repeated == repeated;
  });
}

std::uint32_t RegionTable::intern(Region region) {
  if (const auto found = find(region.nodes, region.repeated)) return *found;
  places_.add(region.nodes.hash());
  regions_.push_back(std::move(region));
  return static_cast<std::uint32_t>(regions_.size() - 1);
}

std::vector<Region> RegionTable::take() {
  places_ = {};
  return std::exchange(regions_, {});
}

}  // namespace collage
