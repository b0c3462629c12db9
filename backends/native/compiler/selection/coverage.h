// Proves that of several conditions one always holds: that a family of strategies has a default for whatever it reads.
// In: conditions (condition.h), the domains of the facts. Out: nothing, or numbers under which none may hold.
// How: what a comparison looks at (a fact, a product, a remainder, a difference of such) is a term with an interval of
//      its own. The first undecided comparison splits its term's interval; each part decides it, and so on until in
//      every part some condition holds as a whole. Terms are taken as independent of each other: what is proved holds,
//      a gap that is named need not exist.
// Cost: exponential in the comparisons of the shortest conditions, which are few.
// Source: Shannon expansion over interval cells.
#pragma once

#include <span>
#include <string>

#include "compiler/selection/condition.h"

namespace collage::native {

/// All that a fact can be, both ends included.
struct Domain {
  std::string_view fact;
  std::int64_t low;
  std::int64_t high;
};

/// "kernel_h = 4, groups % lanes = 0": where no condition is known to hold. A fact without a domain is any number.
[[nodiscard]] std::optional<std::string> gap_in(std::span<const std::string_view> conditions,
                                                std::span<const Domain> domains);

/// The first fact that is outside of its domain.
[[nodiscard]] std::optional<std::string> misfit_in(const Facts& facts, std::span<const Domain> domains);

}  // namespace collage::native
