#include "region/region_table.h"

namespace collage {

std::optional<std::uint32_t> RegionTable::find(const NodeSet& nodes, const NodeSet& repeated) const {
  const auto [first, last] = places_.equal_range(nodes.hash());
  for (auto place = first; place != last; ++place)
    if (const Region& region = regions_[place->second]; region.nodes == nodes && region.repeated == repeated)
      return place->second;
  return std::nullopt;
}

std::uint32_t RegionTable::intern(Region region) {
  if (const auto found = find(region.nodes, region.repeated)) return *found;
  const auto index = static_cast<std::uint32_t>(regions_.size());
  places_.emplace(region.nodes.hash(), index);
  regions_.push_back(std::move(region));
  return index;
}

std::vector<Region> RegionTable::take() {
  places_.clear();
  return std::exchange(regions_, {});
}

}  // namespace collage
