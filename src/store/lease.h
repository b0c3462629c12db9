// The answer to a tuner that asks for the right to measure a cost (leases.h).
#pragma once

#include <cstdint>

namespace collage {

enum class Lease : std::uint8_t {
  kOurs,   ///< the cost is unknown and no other tuner measures it
  kKnown,  ///< the cost is in the store
  kTheirs  ///< another tuner measures it now: ask again later
};

}  // namespace collage
