#include "tune/locations.h"

namespace collage {

std::string Locations::of(const std::string& backend) const {
  const auto found = of_backend.find(backend);
  return found == of_backend.end() ? kHome : found->second;
}

Locations locations_of(Registry& registry, std::span<const std::string> backends) {
  Locations locations;
  for (const std::string& name : backends) {
    const auto backend = registry.get(name);
    if (!backend || (*backend)->info().location == kHome) continue;
    const BackendInfo& info = (*backend)->info();
    locations.of_backend[name] = info.location;
    locations.owners[info.location].push_back(name);
    if (info.location_bytes > 0) locations.capacity[info.location] = info.location_bytes;
  }
  return locations;
}

std::vector<std::string> at_home(const Locations& locations, std::vector<std::string> backends) {
  std::erase_if(backends, [&](const std::string& name) { return locations.of_backend.contains(name); });
  return backends;
}

}  // namespace collage
