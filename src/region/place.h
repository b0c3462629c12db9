// A place of a value: the device that holds it and its memory format. A value may be in several places.
// In:  a device and a format. Out: a value that compares and prints.
// Cost: a comparison of two names.
#pragma once

#include <compare>
#include <string>

#include "region/format.h"

namespace collage {

/// The location of model inputs and outputs: the memory of the machine itself.
inline constexpr const char* kHome = "cpu";

struct Place {
  std::string location = kHome;
  Format format;
  auto operator<=>(const Place&) const = default;
};

/// The format alone at home, else "location/format".
[[nodiscard]] inline std::string to_string(const Place& place) {
  return place.location == kHome ? place.format.name : place.location + "/" + place.format.name;
}

}  // namespace collage
