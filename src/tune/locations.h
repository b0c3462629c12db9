// Lists the devices that backends use, and the backends that move values to and from them.
// In:  backend instances. Out: names and limits by location, without the host.
// Cost: reads each instance's info.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backend/registry.h"

namespace collage {

struct Locations {
  std::map<std::string, std::string> of_backend;           ///< instance -> location
  std::map<std::string, std::vector<std::string>> owners;  ///< location -> its instances: the first moves values
  std::map<std::string, std::int64_t> capacity;            ///< location -> bytes, where there is a limit

  [[nodiscard]] std::string of(const std::string& backend) const;
};

/// Instances that cannot be had are left out.
[[nodiscard]] Locations locations_of(Registry& registry, std::span<const std::string> backends);

/// The instances that run at home.
[[nodiscard]] std::vector<std::string> at_home(const Locations& locations, std::vector<std::string> backends);

}  // namespace collage
