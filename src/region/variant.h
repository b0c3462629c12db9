// A variant: one way in which a backend can run a region.
#pragma once

#include <string>
#include <vector>

#include "region/format.h"

namespace collage {

/// The formats of a region's ports, and a name for the choice of kernel.
struct Variant {
  std::string name;                   ///< "direct", "wino_4x3", "default"; "view" = the output shares the input's bytes
  std::vector<Format> input_formats;  ///< one per Region::inputs
  std::vector<Format> output_formats;  ///< one per Region::outputs
  bool operator==(const Variant&) const = default;
};

}  // namespace collage
