// What a backend says about the regions it wants to be asked about, as values the proposer reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "region/format.h"

namespace collage {

/// How a backend's candidates come to be.
enum class Growth : std::uint8_t {
  kNone,        ///< only single operators and the patterns listed
  kLikeNative,  ///< a seed grows along its consumers by fusion class, as a compiler fuses
  kAny          ///< any convex connected set of supported nodes: an engine
};

/// A chain of operators the backend fuses, first to last: each entry is a set of alternatives "Conv|ConvTranspose".
/// A trailing '?' marks an optional entry, '*' any number of repeats. Every entry after the first must read
/// an output of the region matched so far; a match is proposed when only one value leaves it.
struct Pattern {
  std::string label;
  std::vector<std::string> chain;
};

struct PartitionRules {
  std::vector<Pattern> patterns;
  Growth growth = Growth::kNone;
  std::size_t max_region_nodes = 64;  ///< for kLikeNative
};

/// One way in which a backend can run a region: its ports' formats and a name for the kernel choice.
struct Variant {
  std::string name;                   ///< "direct", "wino_4x3", "default"; "view" = the output shares the input's bytes
  std::vector<Format> input_formats;  ///< one per Region::inputs
  std::vector<Format> output_formats;  ///< one per Region::outputs
  bool operator==(const Variant&) const = default;
};

}  // namespace collage
