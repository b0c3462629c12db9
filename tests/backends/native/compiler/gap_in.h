// Proves that of several conditions one always holds: that a family of strategies has a default for whatever it reads.
// In:  conditions (compiler/selection/condition.h) and the domains of the facts that they name.
// Out: nothing when some condition always holds; else values of the facts for which perhaps none does.
// How: each comparison is about a term: a fact, or a product, remainder or difference of facts. A term has an interval
//      of possible values. The first comparison that is true in one part of its interval and false in another splits
//      the interval there, and each part is examined in turn, until in every part some condition holds as a whole.
//      Terms are taken as independent of each other, so a proof is sound, but a gap that is named need not exist.
// Cost: exponential in the number of comparisons of the shortest conditions, which is small.
// Source: Shannon expansion over interval cells.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compiler/selection/domain.h"

namespace collage::native {

/// "kernel_h = 4, groups % lanes = 0": values for which no condition is known to hold. A fact without a domain may have
/// any value.
[[nodiscard]] std::optional<std::string> gap_in(std::span<const std::string_view> conditions,
                                                std::span<const Domain> domains);

}  // namespace collage::native
