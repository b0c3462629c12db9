// For families whose code depends on the format of the region's tensors: the formats that the code can read and write.
// In:  a region. Out: the fact "layouts".
#pragma once

#include <array>

#include "compiler/selection/strategy.h"

namespace collage::native {

/// The fact: 1 plain, 2 channels_last, 3 both.
inline constexpr std::array<Domain, 1> kLayoutsDomain = {{{.fact = "layouts", .low = 1, .high = 3}}};
inline constexpr std::string_view kHasPlain = "layouts != 2";
inline constexpr std::string_view kHasChannelsLast = "layouts != 1";

[[nodiscard]] constexpr std::int64_t layouts_fact(bool has_plain, bool has_channels_last) {
  return (has_plain ? 1 : 0) + (has_channels_last ? 2 : 0);
}

/// In which formats the epilogue sees all it reads along these axes; a refusal when in none.
[[nodiscard]] inline std::expected<std::int64_t, Refusal> layouts_of_epilogue(const Site& site, const Space& space) {
  const std::int64_t layouts =
      layouts_fact(are_seen(site, site.after, space, plain()), are_seen(site, site.after, space, channels_last()));
  if (layouts == 0) return refuse(RefusalReason::kShape, "an epilogue of another shape");
  return layouts;
}

}  // namespace collage::native
